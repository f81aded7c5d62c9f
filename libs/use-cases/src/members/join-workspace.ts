import { type InvitationStatus, invitationStatus } from '@posthorn/domain';
import type { InvitationLinkStore, LinkedInvitation } from '@posthorn/database';
import type { DatabaseClock } from '@posthorn/kernel';
import { hashIfSecret } from '@posthorn/signing';
import { INVITATION_LINK } from './invitation-mail.ts';

/** What anybody with the link of an invitation may see of it. */
export interface ShownInvitation {
  readonly status: InvitationStatus;
  readonly workspaceName: string;
  readonly email: string;
}

/** What an invited person can do with the link of the invitation. */
export class JoinWorkspace {
  constructor(
    private readonly links: Pick<InvitationLinkStore, 'find' | 'accept'>,
    private readonly clock: Pick<DatabaseClock, 'now'>,
  ) {}

  /** The invitation; changes nothing. Undefined when there is none with this token, or it was removed. */
  async find(token: string): Promise<ShownInvitation | undefined> {
    const hash = hashIfSecret(INVITATION_LINK.prefix, token);
    const linked = hash && (await this.links.find(hash));
    return linked && this.shown(linked);
  }

  /** Makes the person a member if the invitation is open; idempotent, and safe to call concurrently. */
  async accept(token: string): Promise<ShownInvitation | undefined> {
    const hash = hashIfSecret(INVITATION_LINK.prefix, token);
    const linked = hash && (await this.links.accept(hash));
    return linked && this.shown(linked);
  }

  private shown(invitation: LinkedInvitation): ShownInvitation {
    const { workspaceName, email } = invitation;
    return { status: invitationStatus(invitation, this.clock.now()), workspaceName, email };
  }
}
