import {
  idFromUuid,
  type InvitationId,
  timeOf,
  type UserId,
  uuidOf,
  type WorkspaceId,
} from '@posthorn/kernel';
import {
  type Actor,
  type Invitation,
  invitationEnd,
  type InvitationStatus,
  invitationStatus,
  WORKSPACE_LIMITS,
} from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import { FIND_MEMBER_BY_ADDRESS, FIND_UNANSWERED_INVITATION } from '../../sql/members.ts';
import { changeWorkspace, type Transaction } from '../../transactions/transaction.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';
import { dropPendingMails, insertPendingMail } from './invitation-mails.ts';
import { type CountedMail, type MailRefusal, mailRefusal } from '../mail-refusal.ts';
import { invitationOf } from './invitation-row.ts';
import type { LinkMail } from '../pending-mail-store.ts';

type NewInvitation = Pick<Invitation, 'id' | 'email' | 'name' | 'role'>;

/** Why an invitation was not created; nothing has changed. */
export type InvitationRefusal =
  | { readonly refused: 'is_member'; readonly id: UserId }
  /** The address has an open invitation already. */
  | { readonly refused: 'is_invited'; readonly id: InvitationId }
  | { readonly refused: 'too_many' }
  | MailRefusal;

/** Why an invitation cannot be changed. */
export interface InvitationEnded {
  readonly refused: 'ended';
  readonly status: Extract<InvitationStatus, 'ACCEPTED' | 'REVOKED'>;
}

/**
 * Changes invitations: each change in a transaction with its audit log entry and the mail that it causes. Changes within a workspace are
 * serialized: of a concurrent acceptance and revocation, the second sees the result of the first.
 */
export class InvitationChanges {
  constructor(private readonly database: Database) {}

  /** Invites somebody. Replaces an expired invitation of the address. */
  create(
    workspaceId: WorkspaceId,
    actor: Actor,
    wanted: NewInvitation,
    mail: LinkMail,
  ): Promise<Invitation | InvitationRefusal> {
    const now = this.database.clock.now();
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const { id, email, name, role } = wanted;
      const memberId = await findMember(transaction, workspaceId, email);
      if (memberId !== undefined) return { refused: 'is_member', id: memberId };
      const previous = await findUnanswered(transaction, workspaceId, email);
      if (previous && previous.expiresAt > now) return { refused: 'is_invited', id: previous.id };
      const refusal = await countRefusal(transaction, now, { workspaceId, address: email });
      if (refusal !== undefined) return refusal;
      if (previous !== undefined) {
        await transaction.invitation.update({ where: { id: uuidOf(previous.id) }, data: { revokedAt: now } });
        await dropPendingMails(transaction, previous.id);
      }
      // The time inside the id, by which lists are ordered; waiting for the lock on the workspace takes some time.
      const createdAt = new Date(timeOf(id));
      const times = { createdAt, expiresAt: invitationEnd(createdAt) };
      const tokenHash = new Uint8Array(mail.tokenHash);
      const row = await transaction.invitation.create({
        data: { id: uuidOf(id), workspaceId: uuidOf(workspaceId), email, name, role, tokenHash, ...times },
      });
      const created = invitationOf(row);
      await insertPendingMail(transaction, now, created, mail);
      await recordAudit(transaction, now.getTime(), {
        workspaceId,
        action: 'member.invited',
        actor,
        subjectId: created.id,
        detail: { email, role },
      });
      return created;
    });
  }

  /** Gives an invitation another link, and restarts its period of validity; undefined when the workspace has none with this id. */
  renew(
    workspaceId: WorkspaceId,
    actor: Actor,
    id: InvitationId,
    mail: LinkMail,
  ): Promise<Invitation | InvitationEnded | InvitationRefusal | undefined> {
    const now = this.database.clock.now();
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const before = await lockInvitation(transaction, workspaceId, id);
      if (before === undefined) return undefined;
      const status = invitationStatus(before, now);
      if (status === 'ACCEPTED' || status === 'REVOKED') return { refused: 'ended', status };
      const mailTo = { workspaceId, address: before.email };
      const refusal =
        status === 'OPEN'
          ? await mailRefusal(transaction, now, 'invitation_mails', mailTo)
          : await countRefusal(transaction, now, mailTo);
      if (refusal !== undefined) return refusal;
      // If it was created in the future, because the clock was set back, the period starts from there.
      const expiresAt = invitationEnd(now > before.createdAt ? now : before.createdAt);
      const data = { tokenHash: new Uint8Array(mail.tokenHash), expiresAt };
      const row = await transaction.invitation.update({ where: { id: uuidOf(id) }, data });
      const renewed = invitationOf(row);
      await insertPendingMail(transaction, now, renewed, mail);
      await recordAudit(transaction, now.getTime(), {
        workspaceId,
        action: 'member.invitation_resent',
        actor,
        subjectId: renewed.id,
        detail: { email: renewed.email },
      });
      return renewed;
    });
  }

  /** Revokes an invitation; one that was revoked before is left unchanged. */
  revoke(
    workspaceId: WorkspaceId,
    actor: Actor,
    id: InvitationId,
  ): Promise<Invitation | InvitationEnded | undefined> {
    const now = this.database.clock.now();
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const before = await lockInvitation(transaction, workspaceId, id);
      if (before === undefined || before.revokedAt !== null) return before;
      if (before.acceptedAt !== null) return { refused: 'ended', status: 'ACCEPTED' };
      const row = await transaction.invitation.update({
        where: { id: uuidOf(id) },
        data: { revokedAt: now },
      });
      await dropPendingMails(transaction, id);
      const revoked = invitationOf(row);
      await recordAudit(transaction, now.getTime(), {
        workspaceId,
        action: 'member.invitation_revoked',
        actor,
        subjectId: revoked.id,
        detail: { email: revoked.email },
      });
      return revoked;
    });
  }
}

/** Locks and reads the invitation: an erasure, which does not lock the workspace, may be deleting it. `tokenHash`: only if it still has this link. */
export async function lockInvitation(
  transaction: Transaction,
  workspaceId: WorkspaceId,
  id: InvitationId,
  tokenHash?: Buffer,
): Promise<Invitation | undefined> {
  const where = { id: uuidOf(id), workspaceId: uuidOf(workspaceId) };
  await transaction.$executeRaw`SELECT FROM invitations WHERE id = ${where.id}::uuid FOR NO KEY UPDATE`;
  const link = tokenHash && { tokenHash: new Uint8Array(tokenHash) };
  const row = await transaction.invitation.findFirst({ where: { ...where, ...link } });
  return row === null ? undefined : invitationOf(row);
}

async function findMember(
  transaction: Transaction,
  workspaceId: WorkspaceId,
  email: string,
): Promise<UserId | undefined> {
  const parameters = [uuidOf(workspaceId), email];
  const [member] = await transaction.$queryRawUnsafe<{ id: string }[]>(FIND_MEMBER_BY_ADDRESS, ...parameters);
  return member && idFromUuid('usr', member.id);
}

async function findUnanswered(
  transaction: Transaction,
  workspaceId: WorkspaceId,
  email: string,
): Promise<{ id: InvitationId; expiresAt: Date } | undefined> {
  const [row] = await transaction.$queryRawUnsafe<{ id: string; expiresAt: Date }[]>(
    FIND_UNANSWERED_INVITATION,
    uuidOf(workspaceId),
    email,
  );
  return row && { id: idFromUuid('inv', row.id), expiresAt: row.expiresAt };
}

/** Why no further open invitation, or no further mail, is allowed. */
async function countRefusal(
  transaction: Transaction,
  now: Date,
  mail: CountedMail,
): Promise<InvitationRefusal | undefined> {
  const workspaceId = uuidOf(mail.workspaceId);
  const open = await transaction.invitation.count({
    where: { workspaceId, acceptedAt: null, revokedAt: null, expiresAt: { gt: now } },
  });
  if (open >= WORKSPACE_LIMITS.invitations) return { refused: 'too_many' };
  return mailRefusal(transaction, now, 'invitation_mails', mail);
}
