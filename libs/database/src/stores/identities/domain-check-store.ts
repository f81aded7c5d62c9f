import { type IdentityId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import {
  type Actor,
  type AuditedAction,
  type DomainNotice,
  type DomainProof,
  type IdentityStatus,
  type JsonObject,
  maySendFrom,
  type ProofChange,
  type RecordFindings,
  type StagedKey,
} from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import { CLAIM_CHECK, CLAIM_DUE_CHECKS } from '../../sql/domain-checks.ts';
import { transact, type Transaction } from '../../transactions/transaction.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';
import {
  type DomainCheck,
  identityWithRecords,
  type IdentityWithRecords,
  lockIdentity,
  stagedKey,
  type StoredDkimKey,
  WITH_RECORDS,
} from './identity-row.ts';

/** A domain that this process has claimed for a check. */
export type ClaimedDomain = IdentityWithRecords & { readonly check: DomainCheck };

/** The result of checking a domain. */
export interface CheckResult {
  readonly findings: RecordFindings;
  readonly proof: DomainProof;
  /** The keys after the check; one that is missing here is deleted. */
  readonly keys: readonly StagedKey[];
  readonly change?: ProofChange | undefined;
  /** Null: it is not checked again until somebody requests it. */
  readonly nextCheckAfterSeconds: number | null;
}

const ACTION_OF: Readonly<Record<ProofChange, AuditedAction>> = {
  verified: 'identity.verified',
  warned: 'identity.warned',
  recovered: 'identity.recovered',
  unverified: 'identity.unverified',
};

/** The changes that the workspace's editors are notified of by mail. */
const NOTICE_OF: Partial<Record<ProofChange, DomainNotice>> = { warned: 'AT_RISK', unverified: 'UNVERIFIED' };

/** Schedules checks of domains, and records their results. */
export class DomainCheckStore {
  constructor(private readonly database: Database) {}

  /** Claims up to `atMost` due domains; one whose check is never recorded is due again after `leaseSeconds`. */
  async claimDue(atMost: number, leaseSeconds: number): Promise<ClaimedDomain[]> {
    const { rows } = await this.database.pool.query<{ id: string }>(CLAIM_DUE_CHECKS, [atMost, leaseSeconds]);
    return this.read(rows.map(({ id }) => id));
  }

  /** Claims one domain; undefined when the workspace has none with this id, or it was checked within `restSeconds`. */
  async claim(
    workspaceId: WorkspaceId,
    id: IdentityId,
    { leaseSeconds, restSeconds }: { readonly leaseSeconds: number; readonly restSeconds: number },
  ): Promise<ClaimedDomain | undefined> {
    const values = [uuidOf(id), uuidOf(workspaceId), leaseSeconds, restSeconds];
    const { rows } = await this.database.pool.query<{ id: string }>(CLAIM_CHECK, values);
    return (await this.read(rows.map((row) => row.id)))[0];
  }

  /**
   * Records the result, unless the claim is outdated: then a later check is in progress, or somebody vouched for the domain.
   *
   * @returns whether it was recorded
   */
  record(claimed: ClaimedDomain, actor: Actor, result: CheckResult): Promise<boolean> {
    const now = this.database.clock.now();
    return transact(this.database, async (transaction) => {
      await lockIdentity(transaction, claimed.id);
      const { count } = await transaction.domainCheck.updateMany({
        where: { identityId: uuidOf(claimed.id), claims: claimed.check.claims },
        data: checkData(result, now),
      });
      if (count === 0) return false;
      const tell = (action: AuditedAction, detail: JsonObject): Promise<void> =>
        recordAudit(transaction, now.getTime(), {
          workspaceId: claimed.workspaceId,
          action,
          actor,
          subjectId: claimed.id,
          detail: { kind: 'domain', value: claimed.value, ...detail },
        });
      const selectors = await writeKeys(transaction, claimed.keys, result.keys);
      if (selectors.length > 0) await tell('identity.keys_switched', { selectors });
      if (result.change === undefined) return true;
      await writeStatus(transaction, claimed, result.proof.status, now);
      await tell(ACTION_OF[result.change], {});
      const kind = NOTICE_OF[result.change];
      if (kind !== undefined)
        await transaction.domainNotice.create({ data: { identityId: uuidOf(claimed.id), kind } });
      return true;
    });
  }

  private async read(ids: readonly string[]): Promise<ClaimedDomain[]> {
    if (ids.length === 0) return [];
    const where = { id: { in: [...ids] } };
    const rows = await this.database.prisma.identity.findMany({ where, include: WITH_RECORDS });
    // A domain that was deleted meanwhile has no check.
    return rows.map(identityWithRecords).filter((row): row is ClaimedDomain => row.check !== null);
  }
}

function checkData({ findings, proof, nextCheckAfterSeconds }: CheckResult, now: Date): object {
  const { rounds, wrongAnswers } = proof;
  return {
    // Two concurrent claims read the same number, and only one of them updates the row.
    claims: { increment: 1 },
    rounds,
    wrongAnswers,
    findings,
    checkedAt: now,
    wrongSince: dateOf(proof.wrongSinceMs),
    warnedAt: dateOf(proof.warnedAtMs),
    dueAt: dateOf(nextCheckAfterSeconds === null ? null : now.getTime() + nextCheckAfterSeconds * 1_000),
  };
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

/**
 * Keys leave a stage before others enter it. Most checks find no change, and write nothing here.
 *
 * @returns the selectors of the new signing keys, if they have replaced others
 */
async function writeKeys(
  transaction: Transaction,
  before: readonly StoredDkimKey[],
  after: readonly StagedKey[],
): Promise<string[]> {
  const [changed, gone] = changesOf(before.map(stagedKey), after);
  if (gone.length > 0) await transaction.dkimKey.deleteMany({ where: { id: { in: gone } } });
  for (const key of changed) await transaction.dkimKey.update({ where: { id: key.id }, data: keyData(key) });
  return changed
    .filter(({ stage }) => stage === 'CURRENT')
    .map((key) => before.find((each) => each.id === key.id && each.stage === 'NEXT')?.selector)
    .filter((selector) => selector !== undefined);
}

/** The changed keys, those that leave their stage first, and the ids of the deleted ones. */
function changesOf(before: readonly StagedKey[], after: readonly StagedKey[]): [StagedKey[], string[]] {
  const changed = after.filter((key) => {
    const old = before.find(({ id }) => id === key.id)!;
    const { stage, publishedAtMs, wrongSinceMs } = key;
    return stage !== old.stage || publishedAtMs !== old.publishedAtMs || wrongSinceMs !== old.wrongSinceMs;
  });
  const isRetired = ({ stage }: StagedKey): boolean => stage === 'PREVIOUS';
  const gone = before.filter(({ id }) => !after.some((key) => key.id === id)).map(({ id }) => id);
  return [[...changed.filter(isRetired), ...changed.filter((key) => !isRetired(key))], gone];
}

function keyData({ stage, publishedAtMs, wrongSinceMs, retiredAtMs }: StagedKey) {
  return {
    stage,
    publishedAt: dateOf(publishedAtMs),
    wrongSince: dateOf(wrongSinceMs),
    retiredAt: dateOf(retiredAtMs),
    ...(stage === 'PREVIOUS' && { privateKey: null }),
  };
}

async function writeStatus(
  transaction: Transaction,
  { id, verifiedAt }: ClaimedDomain,
  status: IdentityStatus,
  now: Date,
): Promise<void> {
  await transaction.identity.update({
    where: { id: uuidOf(id) },
    data: { status, verifiedAt: maySendFrom(status) ? (verifiedAt ?? now) : null },
  });
}
