import { createHash } from 'node:crypto';
import { uuidOf, type InvitationId, type WorkspaceId } from '@posthorn/kernel';
import { INVITATION_MAIL_BOUNDS, type InvitationMailBound } from '@posthorn/domain';
import { type Transaction } from '../transaction.ts';

/** A mail that is owed from the moment of its transaction on. */
export interface NewInvitationMail {
  /** A uuid; the mail is sealed for the place of its row. */
  readonly id: string;
  readonly sealedMail: Buffer;
  /** SHA-256 of what is in its link. */
  readonly tokenHash: Buffer;
}

/** Too many mails of late; nothing has changed. */
export interface InvitationMailRefusal {
  readonly refused: 'too_many_mails';
  readonly retryAfterSeconds: number;
}

/**
 * Why there may be no further mail just now. The workspace is locked, so its own bounds are exact; the one that is about an address
 * over all workspaces may be passed by those that ask in the same moment.
 * Indexes: invitation_mails_by_address_idx, invitation_mails_by_workspace_idx.
 */
export async function invitationMailRefusal(
  transaction: Transaction,
  now: Date,
  workspaceId: WorkspaceId,
  email: string,
): Promise<InvitationMailRefusal | undefined> {
  let retryAfterSeconds = 0;
  for (const bound of INVITATION_MAIL_BOUNDS) {
    const since = new Date(now.getTime() - bound.withinSeconds * 1_000);
    const oldest = await transaction.invitationMail.findFirst({
      where: { ...scopeOf(bound, workspaceId, email), createdAt: { gt: since } },
      orderBy: { createdAt: 'desc' },
      skip: bound.most - 1,
      select: { createdAt: true },
    });
    if (oldest === null) continue;
    const seconds = Math.ceil((oldest.createdAt.getTime() - since.getTime()) / 1_000);
    retryAfterSeconds = Math.max(retryAfterSeconds, seconds);
  }
  return retryAfterSeconds === 0 ? undefined : { refused: 'too_many_mails', retryAfterSeconds };
}

function scopeOf({ of }: InvitationMailBound, workspaceId: WorkspaceId, email: string): object {
  const workspace = { workspaceId: uuidOf(workspaceId) };
  const recipient = { addressHash: hashOf(email) };
  if (of === 'workspace') return workspace;
  return of === 'address' ? recipient : { ...workspace, ...recipient };
}

/** Writes down that a mail is owed; those of the invitation that are owed still are of no use any more. */
export async function oweInvitationMail(
  transaction: Transaction,
  now: Date,
  invitation: { readonly id: InvitationId; readonly workspaceId: WorkspaceId; readonly email: string },
  { id, sealedMail }: NewInvitationMail,
): Promise<void> {
  await dropOwedMails(transaction, invitation.id);
  await transaction.invitationMail.create({
    data: {
      id,
      workspaceId: uuidOf(invitation.workspaceId),
      invitationId: uuidOf(invitation.id),
      addressHash: hashOf(invitation.email),
      sealedMail: new Uint8Array(sealedMail),
      createdAt: now,
    },
  });
}

/** An invitation whose link does nothing any more owes no mail. */
export async function dropOwedMails(transaction: Transaction, invitationId: InvitationId): Promise<void> {
  const where = { invitationId: uuidOf(invitationId), sealedMail: { not: null } };
  await transaction.invitationMail.updateMany({ where, data: { sealedMail: null } });
}

/** Case is of no account: most mailboxes take none, and a flood finds its way through each spelling. */
function hashOf(email: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(email.toLowerCase()).digest());
}
