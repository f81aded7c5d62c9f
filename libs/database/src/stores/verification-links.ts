import { createHash } from 'node:crypto';
import { type IdentityId, newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type MailBound, VERIFICATION_MAIL_BOUNDS } from '@posthorn/domain';
import { type Transaction } from '../transaction.ts';

/** What is kept of a link: nothing that opens it. */
export interface NewLink {
  readonly tokenHash: Buffer;
  readonly lifetimeSeconds: number;
}

/** A link that verifies an address, and whose mail is to go there. */
export interface AddressLink extends NewLink {
  readonly workspaceId: WorkspaceId;
  readonly identityId: IdentityId;
  readonly address: string;
}

/** Too many mails of late; nothing has changed. */
export interface MailRefusal {
  readonly refused: 'too_many_mails';
  readonly retryAfterSeconds: number;
}

/**
 * Why there may be no further mail just now. The workspace is locked, so its own bounds are exact; the one that is about an address
 * over all workspaces may be passed by those that ask in the same moment.
 * Indexes: verification_links_by_address_idx, verification_links_by_workspace_idx.
 */
export async function mailRefusal(
  transaction: Transaction,
  now: Date,
  link: AddressLink,
): Promise<MailRefusal | undefined> {
  let retryAfterSeconds = 0;
  for (const bound of VERIFICATION_MAIL_BOUNDS) {
    const since = new Date(now.getTime() - bound.withinSeconds * 1_000);
    const oldest = await transaction.verificationLink.findFirst({
      where: { ...scopeOf(bound, link), createdAt: { gt: since } },
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

function scopeOf({ of }: MailBound, { workspaceId, address }: AddressLink): object {
  const workspace = { workspaceId: uuidOf(workspaceId) };
  const recipient = { addressHash: hashOf(address) };
  if (of === 'workspace') return workspace;
  return of === 'address' ? recipient : { ...workspace, ...recipient };
}

export async function insertLink(transaction: Transaction, now: Date, link: AddressLink): Promise<void> {
  await transaction.verificationLink.create({
    data: {
      id: newUuid(now.getTime()),
      identityId: uuidOf(link.identityId),
      workspaceId: uuidOf(link.workspaceId),
      tokenHash: new Uint8Array(link.tokenHash),
      addressHash: hashOf(link.address),
      createdAt: now,
      expiresAt: new Date(now.getTime() + link.lifetimeSeconds * 1_000),
    },
  });
}

/** Case is of no account: most mailboxes take none, and a flood finds its way through each spelling. */
function hashOf(address: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(address.toLowerCase()).digest());
}
