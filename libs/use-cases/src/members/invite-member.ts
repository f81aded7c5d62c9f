import { type DatabaseClock, type InvitationId, newId, newUuid, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, addressKey, type Invitation, type Role } from '@posthorn/domain';
import type {
  InvitationChanges,
  InvitationStore,
  NewInvitationMail,
  WorkspaceStore,
} from '@posthorn/database';
import { hashSecret, newSecret } from '@posthorn/signing';
import type { SubmitPendingMails } from '../system/submit-pending-mails.ts';
import { invitationMail } from './invitation-mail.ts';
import { endedRefusal, invitationRefusal } from './member-refusals.ts';

/** The prefix of the tokens in invitation links. */
export const INVITATION_PREFIX = 'phi_';

/** The person to invite. */
interface WantedMember {
  /** The bare address, already validated. */
  readonly email: string;
  readonly name?: string | undefined;
  readonly role: Role;
}

interface InviteMemberOptions {
  readonly invitations: Pick<InvitationStore, 'find'>;
  readonly changes: Pick<InvitationChanges, 'create' | 'renew'>;
  readonly workspaces: Pick<WorkspaceStore, 'find'>;
  readonly pendingMails: Pick<SubmitPendingMails, 'seal' | 'submit'>;
  readonly clock: DatabaseClock;
  /** The public URL of the gateway, without a trailing slash. */
  readonly publicUrl: string;
}

/** Invites people to workspaces. Once the call has returned, the invitation is durable, and its mail is accepted or will be retried. */
export class InviteMember {
  constructor(private readonly options: InviteMemberOptions) {}

  /**
   * @throws Refusal 409 when the address is already a member's or invited, when too many invitations are open or when no mails
   * can be sent; 429 when too many mails were sent recently
   */
  async invite(workspaceId: WorkspaceId, actor: Actor, wanted: WantedMember): Promise<Invitation> {
    const { changes, pendingMails, clock } = this.options;
    const email = addressKey(wanted.email);
    const mail = await this.write(workspaceId, email);
    const id = newId('inv', clock.nowMs());
    const name = wanted.name?.trim() ?? null;
    const created = await changes.create(workspaceId, actor, { id, email, name, role: wanted.role }, mail);
    if ('refused' in created) throw invitationRefusal(created);
    await pendingMails.submit(mail);
    return created;
  }

  /**
   * Sends an invitation again, with a new link; the previous link becomes invalid.
   *
   * @returns undefined when the workspace has no such invitation
   * @throws Refusal 409 when it was accepted or revoked, or when no mails can be sent; 429 when too many were sent recently
   */
  async resend(workspaceId: WorkspaceId, actor: Actor, id: InvitationId): Promise<Invitation | undefined> {
    const { invitations, changes, pendingMails } = this.options;
    const before = await invitations.find(workspaceId, id);
    if (before === undefined) return undefined;
    const mail = await this.write(workspaceId, before.email);
    const renewed = await changes.renew(workspaceId, actor, id, mail);
    if (renewed === undefined) return undefined;
    if ('refused' in renewed)
      throw renewed.refused === 'ended' ? endedRefusal(renewed) : invitationRefusal(renewed);
    await pendingMails.submit(mail);
    return renewed;
  }

  /** Writes a mail with a new link. @throws Refusal (409) when this installation sends no mails of its own, because nobody would receive the link */
  private async write(workspaceId: WorkspaceId, email: string): Promise<NewInvitationMail> {
    const { pendingMails, workspaces, clock, publicUrl } = this.options;
    const workspace = await workspaces.find(workspaceId);
    const [id, token] = [newUuid(clock.nowMs()), newSecret(INVITATION_PREFIX)];
    const link = `${publicUrl}/invitations/${token}`;
    const mail = invitationMail(email, workspace?.name ?? workspaceId, link);
    return { id, sealedMail: pendingMails.seal(id, mail), tokenHash: hashSecret(token) };
  }
}
