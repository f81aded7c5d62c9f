import { uuidOf, type InvitationId, type WorkspaceId } from '@posthorn/kernel';
import type { Transaction } from '../../transactions/transaction.ts';
import { addressHash } from '../address-hash.ts';
import type { PendingMail } from '../pending-mail-store.ts';

/** Inserts a pending mail; earlier pending mails of the invitation are dropped. */
export async function insertPendingMail(
  transaction: Transaction,
  now: Date,
  invitation: { readonly id: InvitationId; readonly workspaceId: WorkspaceId; readonly email: string },
  { id, sealedMail }: PendingMail,
): Promise<void> {
  await dropPendingMails(transaction, invitation.id);
  await transaction.invitationMail.create({
    data: {
      id,
      workspaceId: uuidOf(invitation.workspaceId),
      invitationId: uuidOf(invitation.id),
      addressHash: addressHash(invitation.email),
      sealedMail: new Uint8Array(sealedMail),
      createdAt: now,
    },
  });
}

/** Drops the pending mails of an invitation whose link is not valid any more. */
export async function dropPendingMails(transaction: Transaction, invitationId: InvitationId): Promise<void> {
  const where = { invitationId: uuidOf(invitationId), sealedMail: { not: null } };
  await transaction.invitationMail.updateMany({ where, data: { sealedMail: null } });
}
