import { type InvitationStatus, invitationStatus } from '@posthorn/domain';
import { acceptInvitation, type Database, InvitationStore, type LinkedInvitation } from '@posthorn/database';
import { hashIfSecret } from '@posthorn/signing';
import { INVITATION_PREFIX } from './send-invitation-mails.ts';

/** What whoever has the link of an invitation is to know of it. */
export interface ShownInvitation {
  readonly status: InvitationStatus;
  readonly workspaceName: string;
  readonly email: string;
}

/** What the person does who has the link of an invitation. */
export class JoinWorkspace {
  private readonly invitations: InvitationStore;

  constructor(private readonly database: Database) {
    this.invitations = new InvitationStore(database);
  }

  /** The invitation; changes nothing. Undefined when there is none with this token, or not any more. */
  async look(token: string): Promise<ShownInvitation | undefined> {
    const hash = hashIfSecret(INVITATION_PREFIX, token);
    const linked = hash && (await this.invitations.findLinked(hash));
    return linked && this.shown(linked);
  }

  /** Makes the person a member, if the invitation is open. Doing it twice, or at once, is doing it once. */
  async accept(token: string): Promise<ShownInvitation | undefined> {
    const hash = hashIfSecret(INVITATION_PREFIX, token);
    const linked = hash && (await acceptInvitation(this.database, hash));
    return linked && this.shown(linked);
  }

  private shown(invitation: LinkedInvitation): ShownInvitation {
    const { workspaceName, email } = invitation;
    return { status: invitationStatus(invitation, this.database.clock.now()), workspaceName, email };
  }
}
