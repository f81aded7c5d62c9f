import { INVITATION_STATUSES, type InvitationStatus, type Role, ROLE_NAMES, SIZES } from '@posthorn/domain';
import { PageQuery } from '../paging/page-query.ts';
import { address } from '../validation/mailbox-rules.ts';
import { Optional, Required } from '../validation/rule.ts';
import { givenName, oneOfWords } from '../validation/text-rules.ts';

const ROLE = oneOfWords('Role', ROLE_NAMES);

/** The body of the call that invites somebody. */
export class CreateInvitationRequest {
  @Required(address, 'The address of the person, without a name; the mail is sent there.', {
    example: 'ada@example.net',
  })
  email!: string;

  @Required(
    ROLE,
    'The role of the new member. It gives no access, which only API keys do: an `EDITOR` is notified by mail when a webhook or a domain fails, others are not.',
    { example: 'EDITOR' },
  )
  role!: Role;

  @Optional(
    givenName(SIZES.personName),
    'The name of the person; ignored if Posthorn already knows the person. The mail does not show it.',
    { example: 'Ada Lovelace' },
  )
  name?: string;
}

/** The body of the call that changes a member. Absent fields stay unchanged. */
export class UpdateMemberRequest {
  @Optional(ROLE, 'The new role of the member.', { example: 'VIEWER' })
  role?: Role;
}

/** The page and filter of a list of invitations. */
export class InvitationsQuery extends PageQuery {
  @Optional(
    oneOfWords('InvitationStatus', Object.keys(INVITATION_STATUSES)),
    'Only invitations with this status.',
    {
      example: 'OPEN',
    },
  )
  status?: InvitationStatus;
}
