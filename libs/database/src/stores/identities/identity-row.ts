import { idFromUuid, type IdentityId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { DomainKey, IdentityStatus, RecordFindings, StagedKey } from '@posthorn/domain';
import type {
  DkimKey as DkimKeyRow,
  DomainCheck as DomainCheckRow,
  Identity as IdentityRow,
  IdentityKind,
} from '../../generated/client.ts';
import type { Transaction } from '../../transactions/transaction.ts';

/** An address or a domain that a workspace may send from once it is verified. */
export interface Identity {
  readonly id: IdentityId;
  readonly workspaceId: WorkspaceId;
  readonly kind: IdentityKind;
  readonly value: string;
  readonly status: IdentityStatus;
  /** An operator vouches for it: it stays verified, whatever the DNS says. */
  readonly isVouched: boolean;
  readonly verifiedAt: Date | null;
  readonly createdAt: Date;
}

/** A key of a domain, with the results of its DNS checks. */
export interface StoredDkimKey extends DomainKey {
  /** The uuid of its row. */
  readonly id: string;
  /** Since when emails are signed with it; null: they are not. */
  readonly publishedAt: Date | null;
  readonly wrongSince: Date | null;
  /** When it was replaced by another key. */
  readonly retiredAt: Date | null;
}

/** The DNS checks of a domain. */
export interface DomainCheck {
  /** The fencing token. */
  readonly claims: number;
  readonly checkedAt: Date | null;
  /** When the next check is due; null: only on request. */
  readonly dueAt: Date | null;
  readonly rounds: number;
  readonly wrongSince: Date | null;
  readonly wrongAnswers: number;
  readonly warnedAt: Date | null;
  readonly findings: RecordFindings;
}

/** An identity with the keys and the check of a domain; a domain has no check while it has no keys. */
export interface IdentityWithRecords extends Identity {
  readonly keys: readonly StoredDkimKey[];
  readonly check: DomainCheck | null;
}

type IdentityRowWithRecords = IdentityRow & {
  readonly dkimKeys: readonly DkimKeyRow[];
  readonly check: DomainCheckRow | null;
};

/** Locks an identity; must happen before its keys or its check are changed, so that the lock order is the same everywhere. */
export async function lockIdentity(transaction: Transaction, id: IdentityId): Promise<void> {
  await transaction.$executeRaw`SELECT FROM identities WHERE id = ${uuidOf(id)}::uuid FOR NO KEY UPDATE`;
}

/** What Prisma must select for {@link identityWithRecords}. */
export const WITH_RECORDS = {
  dkimKeys: { orderBy: [{ stage: 'asc' as const }, { algorithm: 'asc' as const }] },
  check: true as const,
};

/** Converts a row to an identity. */
export function identityOf(row: IdentityRow): Identity {
  const { kind, value, status, isVouched, verifiedAt, createdAt } = row;
  return {
    id: idFromUuid('idn', row.id),
    workspaceId: idFromUuid('wrk', row.workspaceId),
    kind,
    value,
    status,
    isVouched,
    verifiedAt,
    createdAt,
  };
}

/** Converts a row to an identity with its DKIM keys and the results of their last look-up. */
export function identityWithRecords(row: IdentityRowWithRecords): IdentityWithRecords {
  return {
    ...identityOf(row),
    keys: row.dkimKeys.map(keyOf),
    check: row.check === null ? null : checkOf(row.check),
  };
}

function keyOf(row: DkimKeyRow): StoredDkimKey {
  const { id, algorithm, selector, publicKey, publishedAt, wrongSince, stage, retiredAt } = row;
  return { id, algorithm, selector, publicKey, publishedAt, wrongSince, stage, retiredAt };
}

/** The key in the form that rotations are decided on. */
export function stagedKey(key: StoredDkimKey): StagedKey {
  const { id, algorithm, stage } = key;
  return {
    id,
    algorithm,
    stage,
    publishedAtMs: key.publishedAt?.getTime() ?? null,
    wrongSinceMs: key.wrongSince?.getTime() ?? null,
    retiredAtMs: key.retiredAt?.getTime() ?? null,
  };
}

function checkOf(row: DomainCheckRow): DomainCheck {
  const { claims, checkedAt, dueAt, rounds, wrongSince, wrongAnswers, warnedAt } = row;
  const findings = row.findings as object as RecordFindings;
  return { claims, checkedAt, dueAt, rounds, wrongSince, wrongAnswers, warnedAt, findings };
}
