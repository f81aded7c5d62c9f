import { type IdentityId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { VERIFICATION_MAIL_BOUNDS } from '@posthorn/domain';
import type { Transaction } from '../transaction.ts';
import { addressHash, type MailRefusal, mailRefusal } from './mail-bounds.ts';
import type { OwedMail } from './owed-mail-store.ts';

const COUNTED = { table: 'verification_links', bounds: VERIFICATION_MAIL_BOUNDS } as const;

/** A link that was just made: of what opens it the hash, and its mail, encrypted. */
export interface NewLink extends OwedMail {
  readonly tokenHash: Buffer;
  readonly lifetimeSeconds: number;
}

/** A link that verifies an address, and whose mail is to go there. */
interface AddressLink extends NewLink {
  readonly workspaceId: WorkspaceId;
  readonly identityId: IdentityId;
  readonly address: string;
}

/** Why there may be no further mail with a link just now. Indexes: verification_links_by_address_idx, verification_links_by_workspace_idx. */
export function linkMailRefusal(
  transaction: Transaction,
  now: Date,
  link: AddressLink,
): Promise<MailRefusal | undefined> {
  return mailRefusal(transaction, now, COUNTED, link);
}

/** Adds a link, which owes its mail from now on. */
export async function insertLink(transaction: Transaction, now: Date, link: AddressLink): Promise<void> {
  await transaction.verificationLink.create({
    data: {
      id: link.id,
      identityId: uuidOf(link.identityId),
      workspaceId: uuidOf(link.workspaceId),
      tokenHash: new Uint8Array(link.tokenHash),
      addressHash: addressHash(link.address),
      sealedMail: new Uint8Array(link.sealedMail),
      createdAt: now,
      expiresAt: new Date(now.getTime() + link.lifetimeSeconds * 1_000),
    },
  });
}

/** An identity that is verified, or gone, owes no mail. Index: verification_links_owed_idx, which is short. */
export async function dropOwedLinkMails(transaction: Transaction, identityId: IdentityId): Promise<void> {
  const where = { identityId: uuidOf(identityId), sealedMail: { not: null } };
  await transaction.verificationLink.updateMany({ where, data: { sealedMail: null } });
}
