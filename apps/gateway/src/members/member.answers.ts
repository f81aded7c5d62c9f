import { INVITATION_STATUS_NAMES, type InvitationStatus, type Role, ROLE_NAMES } from '@posthorn/domain';
import { idOf, nullable, objectOf, text, time, truth, wordOf } from '../openapi/answer-schemas.ts';
import { Shown } from '../openapi/shown.ts';
import { pageOf } from '../paging/page-answer.ts';

const ADDRESS = { example: 'ada@example.net' };
const NAME = { example: 'Ada Lovelace' };

/** A member. */
export class Member {
  @Shown('The id of the person, who has the same in every workspace.', idOf('usr'))
  id!: string;

  @Shown('The address of the person.', text, ADDRESS)
  email!: string;

  @Shown('What the person is called.', text, NAME)
  name!: string;

  @Shown('The role of the person in this workspace.', wordOf(ROLE_NAMES), { example: 'EDITOR' })
  role!: Role;

  @Shown('When the person joined.', time)
  createdAt!: Date;
}

/** A page of members. */
export class MemberPage extends pageOf('The members of the page.', Member) {}

/** The answer that lists members. */
export class MembersAnswer {
  @Shown('A page of the members of the workspace.', objectOf(MemberPage))
  members!: MemberPage;
}

/** The answer that shows a member. */
export class MemberAnswer {
  @Shown('The member.', objectOf(Member))
  member!: Member;
}

/** The answer to a member who was removed. */
export class MemberRemovedAnswer extends MemberAnswer {
  @Shown('Always `true`.', truth)
  isDeleted!: true;
}

/** An invitation. */
export class Invitation {
  @Shown('The id of the invitation.', idOf('inv'))
  id!: string;

  @Shown('Where its mails go.', text, ADDRESS)
  email!: string;

  @Shown('What the inviter calls the person; `null` if no name was given.', nullable(text), NAME)
  name!: string | null;

  @Shown('The role that the person is to have.', wordOf(ROLE_NAMES), { example: 'EDITOR' })
  role!: Role;

  @Shown(
    '`OPEN`: waits for the person. `EXPIRED`: not accepted in time; it can be sent again. `ACCEPTED`: the person is a member. `REVOKED`: taken back.',
    wordOf(INVITATION_STATUS_NAMES),
  )
  status!: InvitationStatus;

  @Shown('When the person was invited.', time)
  createdAt!: Date;

  @Shown('Until when its newest link can be used.', time)
  expiresAt!: Date;

  @Shown('When it was accepted; `null`: not yet.', nullable(time), { example: null })
  acceptedAt!: Date | null;

  @Shown('When it was taken back; `null`: it was not.', nullable(time), { example: null })
  revokedAt!: Date | null;
}

/** A page of invitations. */
export class InvitationPage extends pageOf('The invitations of the page.', Invitation) {}

/** The answer that lists invitations. */
export class InvitationsAnswer {
  @Shown('A page of the invitations of the workspace.', objectOf(InvitationPage))
  invitations!: InvitationPage;
}

/** The answer that shows an invitation. */
export class InvitationAnswer {
  @Shown('The invitation.', objectOf(Invitation))
  invitation!: Invitation;
}
