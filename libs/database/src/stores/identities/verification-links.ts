import { type IdentityId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { VERIFICATION_LINK_SECONDS } from '@posthorn/domain';
import type { Transaction } from '../../transactions/transaction.ts';
import { addressHash } from '../address-hash.ts';
import type { LinkMail } from '../pending-mail-store.ts';

/** A link that verifies an address, and the address that its mail goes to. */
interface AddressLink extends LinkMail {
  readonly workspaceId: WorkspaceId;
  readonly identityId: IdentityId;
  readonly address: string;
}

/** Adds a link, whose mail is pending from now on. */
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
      expiresAt: new Date(now.getTime() + VERIFICATION_LINK_SECONDS * 1_000),
    },
  });
}

/** Drops the pending mails of an identity that is verified or deleted. Index: verification_links_owed_idx, which is small. */
export async function dropPendingLinkMails(transaction: Transaction, identityId: IdentityId): Promise<void> {
  const where = { identityId: uuidOf(identityId), sealedMail: { not: null } };
  await transaction.verificationLink.updateMany({ where, data: { sealedMail: null } });
}
