import { idFromUuid, type IdentityId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { DomainKey, IdentityStatus, RecordFindings, StagedKey } from '@posthorn/domain';
import type {
  DkimKey as DkimKeyRow,
  DomainCheck as DomainCheckRow,
  Identity as IdentityRow,
  IdentityKind,
} from '../generated/client.ts';
import type { Transaction } from '../transaction.ts';

/** An address or a domain that a workspace may send from once it is verified. */
export interface Identity {
  readonly id: IdentityId;
  readonly workspaceId: WorkspaceId;
  readonly kind: IdentityKind;
  readonly value: string;
  readonly status: IdentityStatus;
  /** An operator vouches for it: whatever the DNS says, it stays verified. */
  readonly isVouched: boolean;
  readonly verifiedAt: Date | null;
  readonly createdAt: Date;
}

/** A key of a domain, with what the DNS said of it so far. */
export interface StoredDkimKey extends DomainKey {
  /** The uuid of its row. */
  readonly id: string;
  /** Since when emails are signed with it; null: they are not. */
  readonly publishedAt: Date | null;
  readonly wrongSince: Date | null;
  /** When another one took its place. */
  readonly retiredAt: Date | null;
}

/** What the DNS said of a domain so far. */
export interface DomainCheck {
  /** The fencing token. */
  readonly claims: number;
  readonly checkedAt: Date | null;
  /** When it is asked again; null: not before somebody wants it. */
  readonly dueAt: Date | null;
  readonly rounds: number;
  readonly wrongSince: Date | null;
  readonly wrongAnswers: number;
  readonly warnedAt: Date | null;
  readonly findings: RecordFindings;
}

/** An identity with what a domain has besides; a domain has no check while it has no keys. */
export interface IdentityWithRecords extends Identity {
  readonly keys: readonly StoredDkimKey[];
  readonly check: DomainCheck | null;
}

type IdentityRowWithRecords = IdentityRow & {
  readonly dkimKeys: readonly DkimKeyRow[];
  readonly check: DomainCheckRow | null;
};

/** Locks an identity; to be done before its keys or its check are touched, in this order everywhere. */
export async function lockIdentity(transaction: Transaction, id: IdentityId): Promise<void> {
  await transaction.$executeRaw`SELECT FROM identities WHERE id = ${uuidOf(id)}::uuid FOR NO KEY UPDATE`;
}

/** What Prisma is to read for {@link identityWithRecords}. */
export const WITH_RECORDS = {
  dkimKeys: { orderBy: [{ stage: 'asc' as const }, { algorithm: 'asc' as const }] },
  check: true as const,
};

/** The identity in a row. */
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

/** The identity in a row, with its DKIM keys and what the last look-up of its records found. */
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

/** The key as rotations are decided upon. */
export function stagedKey({
  id,
  algorithm,
  stage,
  publishedAt,
  wrongSince,
  retiredAt,
}: StoredDkimKey): StagedKey {
  return {
    id,
    algorithm,
    stage,
    publishedAtMs: publishedAt?.getTime() ?? null,
    wrongSinceMs: wrongSince?.getTime() ?? null,
    retiredAtMs: retiredAt?.getTime() ?? null,
  };
}

function checkOf(row: DomainCheckRow): DomainCheck {
  const { claims, checkedAt, dueAt, rounds, wrongSince, wrongAnswers, warnedAt } = row;
  const findings = row.findings as object as RecordFindings;
  return { claims, checkedAt, dueAt, rounds, wrongSince, wrongAnswers, warnedAt, findings };
}
