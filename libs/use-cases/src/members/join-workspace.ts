import type { DatabaseClock } from '@posthorn/kernel';
import { type InvitationStatus, invitationStatus } from '@posthorn/domain';
import { acceptInvitation, type Database, InvitationStore, type LinkedInvitation } from '@posthorn/database';
import { hashOfInvitationToken } from './invitation-link.ts';

/** What whoever has the link of an invitation is to know of it. */
export interface ShownInvitation {
  readonly status: InvitationStatus;
  readonly workspaceName: string;
  readonly email: string;
}

/** What the person does who has the link of an invitation. */
export class JoinWorkspace {
  private readonly clock: DatabaseClock;

  constructor(private readonly database: Database) {
    this.clock = database.clock;
  }

  /** The invitation; changes nothing. Undefined when there is none with this token, or not any more. */
  async look(token: string): Promise<ShownInvitation | undefined> {
    const hash = hashOfInvitationToken(token);
    const linked = hash && (await new InvitationStore(this.database).findLinked(hash));
    return linked && this.shown(linked);
  }

  /** Makes the person a member, if the invitation is open. Doing it twice, or at once, is doing it once. */
  async accept(token: string): Promise<ShownInvitation | undefined> {
    const hash = hashOfInvitationToken(token);
    const linked = hash && (await acceptInvitation(this.database, hash));
    return linked && this.shown(linked);
  }

  private shown(invitation: LinkedInvitation): ShownInvitation {
    const { workspaceName, email } = invitation;
    return { status: invitationStatus(invitation, this.clock.now()), workspaceName, email };
  }
}
