import { idFromUuid, type IdentityId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { POSTHORN } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import type { VerificationLink as LinkRow } from '../../generated/client.ts';
import { awaitStandby } from '../../transactions/await-standby.ts';
import { changeWorkspace, type Transaction } from '../../transactions/transaction.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';
import { type MailRefusal, mailRefusal } from '../mail-refusal.ts';
import type { LinkMail } from '../pending-mail-store.ts';
import { dropPendingLinkMails, insertLink } from './verification-links.ts';

/** What a verification link refers to. */
export type LinkedAddress =
  | { readonly state: 'open' | 'used'; readonly address: string; readonly workspaceName: string }
  /** It has expired. */
  | { readonly state: 'expired' }
  /** It never existed, or its identity was deleted. */
  | { readonly state: 'unknown' };

const UNKNOWN: LinkedAddress = { state: 'unknown' };

/** The links in mails that verify addresses. */
export class VerificationLinkStore {
  constructor(private readonly database: Database) {}

  /**
   * Adds a link for an address, if another mail is allowed; its mail is pending then. @returns `unneeded` when the identity was verified or
   * deleted in the meantime
   */
  issue(
    workspaceId: WorkspaceId,
    identityId: IdentityId,
    address: string,
    link: LinkMail,
  ): Promise<'added' | 'unneeded' | MailRefusal> {
    const now = this.database.clock.now();
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const where = { id: uuidOf(identityId), workspaceId: uuidOf(workspaceId), verifiedAt: null };
      if ((await transaction.identity.count({ where })) === 0) return 'unneeded';
      const newLink = { ...link, workspaceId, identityId, address };
      const refusal = await mailRefusal(transaction, now, 'verification_links', newLink);
      if (refusal !== undefined) return refusal;
      await insertLink(transaction, now, newLink);
      return 'added';
    });
  }

  /** The address that a link verifies; changes nothing. */
  async find(tokenHash: Buffer): Promise<LinkedAddress> {
    const { prisma, clock } = this.database;
    const link = await findLink(prisma, tokenHash);
    return link === null ? UNKNOWN : linked(prisma, link, clock.now());
  }

  /** Uses a link, which is possible once: `open` means that this call has verified the address. */
  async use(tokenHash: Buffer): Promise<LinkedAddress> {
    const { prisma, pool, clock } = this.database;
    const now = clock.now();
    const known = await findLink(prisma, tokenHash);
    if (known === null) return UNKNOWN;
    const before = await linked(prisma, known, now);
    // Whoever has a link can send any number of requests with it, which must not keep others from changing the workspace.
    if (before.state !== 'open') {
      await awaitStandby(pool);
      return before;
    }
    return changeWorkspace(this.database, idFromUuid('wrk', known.workspaceId), async (transaction) => {
      // An erasure, which does not lock the workspace, may be deleting it.
      await transaction.$executeRaw`SELECT FROM verification_links WHERE id = ${known.id}::uuid FOR NO KEY UPDATE`;
      const link = await findLink(transaction, tokenHash);
      if (link === null) return UNKNOWN;
      const address = await linked(transaction, link, now);
      if (address.state === 'open') await verify(transaction, link, now);
      return address;
    });
  }
}

function findLink(
  { verificationLink }: Pick<Transaction, 'verificationLink'>,
  tokenHash: Buffer,
): Promise<LinkRow | null> {
  return verificationLink.findFirst({ where: { tokenHash: new Uint8Array(tokenHash) } });
}

async function linked(
  { identity: identities }: Pick<Transaction, 'identity'>,
  link: LinkRow,
  now: Date,
): Promise<LinkedAddress> {
  const identity = await identities.findFirst({
    where: { id: link.identityId },
    include: { workspace: { select: { name: true } } },
  });
  if (identity === null) return UNKNOWN;
  const shown = { address: identity.value, workspaceName: identity.workspace.name };
  if (link.usedAt !== null) return { state: 'used', ...shown };
  return link.expiresAt > now ? { state: 'open', ...shown } : { state: 'expired' };
}

async function verify(transaction: Transaction, link: LinkRow, now: Date): Promise<void> {
  await transaction.verificationLink.update({ where: { id: link.id }, data: { usedAt: now } });
  await dropPendingLinkMails(transaction, idFromUuid('idn', link.identityId));
  const { count } = await transaction.identity.updateMany({
    where: { id: link.identityId, verifiedAt: null },
    data: { status: 'VERIFIED', verifiedAt: now },
  });
  if (count === 0) return; // an operator, or the link of another mail, was first
  await recordAudit(transaction, now.getTime(), {
    workspaceId: idFromUuid('wrk', link.workspaceId),
    action: 'identity.verified',
    actor: POSTHORN,
    subjectId: idFromUuid('idn', link.identityId),
    detail: { proof: 'mail' },
  });
}
