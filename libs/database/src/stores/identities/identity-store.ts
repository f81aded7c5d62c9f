import { idFromUuid, type IdentityId, newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, domainOf, type Page, pageOf, type PageRequest } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import type { Identity as IdentityRow, IdentityKind } from '../../generated/client.ts';
import { READ_ALLOWED_SENDERS } from '../../sql/allowed-senders.ts';
import { changeWorkspace, type Transaction } from '../../transactions/transaction.ts';
import type { AllowedSenders } from '../acceptance/acceptable-email.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';
import {
  type Identity,
  identityOf,
  identityWithRecords,
  type IdentityWithRecords,
  WITH_RECORDS,
} from './identity-row.ts';
import { prismaPage } from '../prisma-page.ts';
import { dropPendingLinkMails } from './verification-links.ts';

/** An address or a domain, and whether an operator vouches for it. */
interface NewIdentity {
  readonly kind: IdentityKind;
  readonly value: string;
  readonly verified: boolean;
}

/** Reads the addresses and domains of workspaces, and adds them for an operator; `IdentityChanges` makes the other changes. */
export class IdentityStore {
  constructor(private readonly database: Database) {}

  /** Adds an identity, or vouches for the existing one. The audit log records only what has changed. */
  put(workspaceId: WorkspaceId, actor: Actor, identity: NewIdentity): Promise<Identity> {
    const { kind, value, verified } = identity;
    const nowMs = this.database.clock.nowMs();
    const where = { workspaceId: uuidOf(workspaceId), value };
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const before = await transaction.identity.findFirst({ where });
      if (before !== null && (!verified || before.isVouched)) return identityOf(before);
      const put = await vouch(transaction, nowMs, before, { workspaceId, ...identity });
      const what = { workspaceId, subjectId: put.id, actor, detail: { kind, value, isVouched: verified } };
      if (before === null) await recordAudit(transaction, nowMs, { ...what, action: 'identity.created' });
      if (verified) await recordAudit(transaction, nowMs, { ...what, action: 'identity.verified' });
      return put;
    });
  }

  /**
   * A page of a workspace's identities, by age. Index: identities_workspace_value_key; there are few enough to sort. An index on
   * (workspace_id, id) would lead the planner away from the one by which accepting finds a sender at once.
   */
  async page(workspaceId: WorkspaceId, page: PageRequest<IdentityId>): Promise<Page<Identity>> {
    const those = prismaPage(page, { workspaceId: uuidOf(workspaceId) });
    const rows = await this.database.prisma.identity.findMany(those);
    return pageOf(rows.map(identityOf), page.limit);
  }

  /** The identity with its records, if this workspace has it. */
  async find(workspaceId: WorkspaceId, id: IdentityId): Promise<IdentityWithRecords | undefined> {
    const row = await this.database.prisma.identity.findFirst({
      where: { id: uuidOf(id), workspaceId: uuidOf(workspaceId) },
      include: WITH_RECORDS,
    });
    return row === null ? undefined : identityWithRecords(row);
  }

  /** A page of a workspace's identities with their records. Index: as {@link page}. */
  async pageWithRecords(
    workspaceId: WorkspaceId,
    page: PageRequest<IdentityId>,
  ): Promise<Page<IdentityWithRecords>> {
    const those = prismaPage(page, { workspaceId: uuidOf(workspaceId) });
    const rows = await this.database.prisma.identity.findMany({ ...those, include: WITH_RECORDS });
    return pageOf(rows.map(identityWithRecords), page.limit);
  }

  /** All identities of a workspace, the oldest first. */
  async list(workspaceId: WorkspaceId): Promise<Identity[]> {
    const rows = await this.database.prisma.identity.findMany({
      where: { workspaceId: uuidOf(workspaceId) },
      orderBy: { id: 'asc' },
    });
    return rows.map(identityOf);
  }

  /** What the workspace may send from if it may not send from this address; undefined: it may. */
  async refuseSender(workspaceId: WorkspaceId, address: string): Promise<AllowedSenders | undefined> {
    const values = [uuidOf(workspaceId), address, domainOf(address)];
    return (await this.database.pool.query<AllowedSenders>(READ_ALLOWED_SENDERS, values)).rows[0];
  }
}

async function vouch(
  transaction: Transaction,
  nowMs: number,
  before: IdentityRow | null,
  { workspaceId, kind, value, verified }: NewIdentity & Pick<Identity, 'workspaceId'>,
): Promise<Identity> {
  const trust = verified
    ? { status: 'VERIFIED' as const, isVouched: true, verifiedAt: before?.verifiedAt ?? new Date(nowMs) }
    : {};
  if (before === null) {
    const ids = { id: newUuid(nowMs), workspaceId: uuidOf(workspaceId) };
    const data = { ...ids, kind, value, createdAt: new Date(nowMs), ...trust } as const;
    return identityOf(await transaction.identity.create({ data }));
  }
  const row = await transaction.identity.update({ where: { id: before.id }, data: trust });
  await dropPendingLinkMails(transaction, idFromUuid('idn', before.id));
  // Invalidates a check in progress, which began before anybody vouched for the domain.
  await transaction.domainCheck.updateMany({
    where: { identityId: before.id },
    data: { claims: { increment: 1 }, wrongSince: null, wrongAnswers: 0, warnedAt: null },
  });
  return identityOf(row);
}
