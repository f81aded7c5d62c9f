import { INVITATION_STATUSES, type InvitationStatus, type Role, ROLE_NAMES } from '@posthorn/domain';
import { idOf, nullable, objectOf, text, time, bool, wordOf } from '../openapi/answer-schemas.ts';
import { AnswerField, AnswerWord } from '../openapi/answer-field.ts';
import { pageOf } from '../paging/page-answer.ts';

const ADDRESS = { example: 'ada@example.net' };
const NAME = { example: 'Ada Lovelace' };

export class Member {
  @AnswerField('The id of the person, who has the same in every workspace.', idOf('usr'))
  id!: string;

  @AnswerField('The address of the person.', text, ADDRESS)
  email!: string;

  @AnswerField('The name of the person.', text, NAME)
  name!: string;

  @AnswerField('The role of the person in this workspace.', wordOf('Role', ROLE_NAMES), { example: 'EDITOR' })
  role!: Role;

  @AnswerField('When the person joined.', time)
  createdAt!: Date;
}

class MemberPage extends pageOf('The members of the page.', Member) {}

/** The answer that lists members. */
export class MembersAnswer {
  @AnswerField('A page of the members of the workspace.', objectOf(MemberPage))
  members!: MemberPage;
}

/** The answer that shows a member. */
export class MemberAnswer {
  @AnswerField('The member.', objectOf(Member))
  member!: Member;
}

/** The answer to a member who was removed. */
export class MemberRemovedAnswer extends MemberAnswer {
  @AnswerField('Always `true`.', bool)
  isDeleted!: true;
}

export class Invitation {
  @AnswerField('The id of the invitation.', idOf('inv'))
  id!: string;

  @AnswerField('The address that its mails are sent to.', text, ADDRESS)
  email!: string;

  @AnswerField(
    'The name of the person as given by the inviter; `null` if none was given.',
    nullable(text),
    NAME,
  )
  name!: string | null;

  @AnswerField('The role that the person gets on joining.', wordOf('Role', ROLE_NAMES), { example: 'EDITOR' })
  role!: Role;

  @AnswerWord('InvitationStatus', INVITATION_STATUSES)
  status!: InvitationStatus;

  @AnswerField('When the person was invited.', time)
  createdAt!: Date;

  @AnswerField('Until when its newest link can be used.', time)
  expiresAt!: Date;

  @AnswerField('When it was accepted; `null` if it was not.', nullable(time), { example: null })
  acceptedAt!: Date | null;

  @AnswerField('When it was revoked; `null` if it was not.', nullable(time), { example: null })
  revokedAt!: Date | null;
}

class InvitationPage extends pageOf('The invitations of the page.', Invitation) {}

/** The answer that lists invitations. */
export class InvitationsAnswer {
  @AnswerField('A page of the invitations of the workspace.', objectOf(InvitationPage))
  invitations!: InvitationPage;
}

/** The answer that shows an invitation. */
export class InvitationAnswer {
  @AnswerField('The invitation.', objectOf(Invitation))
  invitation!: Invitation;
}
