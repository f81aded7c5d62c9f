import { type DatabaseClock, type InvitationId, newId, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, addressKey, type Invitation, type Role } from '@posthorn/domain';
import type { InvitationChanges, InvitationStore } from '@posthorn/database';
import type { SendLink } from '../system/send-link.ts';
import { endedRefusal, invitationRefusal } from './member-refusals.ts';

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
  readonly links: Pick<SendLink, 'write' | 'submit'>;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
}

/** Invites people to workspaces. Once the call has returned, the invitation is durable, and its mail is accepted or will be retried. */
export class InviteMember {
  constructor(private readonly options: InviteMemberOptions) {}

  /**
   * @throws Refusal 409 when the address is already a member's or invited, when too many invitations are open or when no mails
   * can be sent; 429 when too many mails were sent recently
   */
  async invite(workspaceId: WorkspaceId, actor: Actor, wanted: WantedMember): Promise<Invitation> {
    const { changes, links, clock } = this.options;
    const email = addressKey(wanted.email);
    const mail = await links.write(workspaceId, email);
    const id = newId('inv', clock.nowMs());
    const name = wanted.name?.trim() ?? null;
    const created = await changes.create(workspaceId, actor, { id, email, name, role: wanted.role }, mail);
    if ('refused' in created) throw invitationRefusal(created);
    await links.submit(mail);
    return created;
  }

  /**
   * Sends an invitation again, with a new link; the previous link becomes invalid.
   *
   * @returns undefined when the workspace has no such invitation
   * @throws Refusal 409 when it was accepted or revoked, or when no mails can be sent; 429 when too many were sent recently
   */
  async resend(workspaceId: WorkspaceId, actor: Actor, id: InvitationId): Promise<Invitation | undefined> {
    const { invitations, changes, links } = this.options;
    const before = await invitations.find(workspaceId, id);
    if (before === undefined) return undefined;
    const mail = await links.write(workspaceId, before.email);
    const renewed = await changes.renew(workspaceId, actor, id, mail);
    if (renewed === undefined) return undefined;
    if ('refused' in renewed)
      throw renewed.refused === 'ended' ? endedRefusal(renewed) : invitationRefusal(renewed);
    await links.submit(mail);
    return renewed;
  }
}
