import { uuidOf, type InvitationId, type WorkspaceId } from '@posthorn/kernel';
import { INVITATION_MAIL_BOUNDS } from '@posthorn/domain';
import type { Transaction } from '../transaction.ts';
import { addressHash, type MailRefusal, mailRefusal } from './mail-bounds.ts';
import type { OwedMail } from './owed-mail-store.ts';

const COUNTED = { table: 'invitation_mails', bounds: INVITATION_MAIL_BOUNDS } as const;

/** A mail that is owed from the moment of its transaction on. */
export interface NewInvitationMail extends OwedMail {
  /** SHA-256 of what is in its link. */
  readonly tokenHash: Buffer;
}

/** Why an invitation may have no further mail just now. Indexes: invitation_mails_by_address_idx, invitation_mails_by_workspace_idx. */
export function invitationMailRefusal(
  transaction: Transaction,
  now: Date,
  workspaceId: WorkspaceId,
  email: string,
): Promise<MailRefusal | undefined> {
  const mail = { workspaceId, address: email };
  return mailRefusal(transaction, now, COUNTED, mail);
}

/** Notes that a mail is owed; earlier ones of the invitation that are still owed are dropped. */
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
      addressHash: addressHash(invitation.email),
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
