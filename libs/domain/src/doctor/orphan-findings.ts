import { advice, bytesText, durationText, enumerated, fault, type Finding, good, NAMED } from './finding.ts';
import { describeHarm, doesHarm, HARMFUL_LOCK_SECONDS, type LockHarm } from './lock-harm.ts';

/** A transaction that was prepared for a commit in two phases (PREPARE TRANSACTION): it belongs to no session, and outlives restarts. */
export interface PreparedTransaction extends LockHarm {
  /** Its identifier as an SQL literal. */
  readonly quotedId: string;
  readonly role: string;
  readonly database: string;
  readonly openSeconds: number;
}

/** A replication slot that nothing reads. */
export interface InactiveSlot {
  readonly name: string;
  readonly retainedBytes: number;
  /** Whether it retains more of the write-ahead log than `max_wal_size`. */
  readonly exceedsMaxWalSize: boolean;
  /** How many transactions ago the snapshot is that it keeps dead rows for; 0 without one. */
  readonly snapshotAge: number;
}

/** A transaction manager takes far less to commit what it prepared. */
const LONG_PREPARED_SECONDS = 2 * 60;
const HARMFUL_SNAPSHOT_AGE = 100_000;

/** Whether a prepared transaction was left behind, or keeps Posthorn's statements from being executed. */
export function judgePreparedTransactions(transactions: readonly PreparedTransaction[]): Finding {
  const orphans = transactions.filter(
    (one) => one.openSeconds >= (doesHarm(one) ? HARMFUL_LOCK_SECONDS : LONG_PREPARED_SECONDS),
  );
  if (orphans.length === 0) return good('no prepared transaction was left behind');
  const texts = orphans.map(
    (one) => `${one.quotedId} (${[...describe(one), ...describeHarm(one)].join(', ')})`,
  );
  const calls = orphans.slice(0, NAMED).map(({ quotedId }) => `ROLLBACK PREPARED ${quotedId}`);
  return fault(
    `locks and dead rows are kept, and the feed of events stands still, because of the prepared transactions ${enumerated(texts)}`,
    `have their transaction manager end them, or end each in its database, as its role or a superuser: ${calls.join('; ')}`,
  );
}

/** Whether a replication slot that nothing reads retains so much that it does harm. */
export function judgeSlots(slots: readonly InactiveSlot[]): Finding {
  const harmful = slots.filter(
    ({ exceedsMaxWalSize, snapshotAge }) => exceedsMaxWalSize || snapshotAge >= HARMFUL_SNAPSHOT_AGE,
  );
  if (harmful.length === 0) return good('no inactive replication slot retains much');
  const texts = harmful.map(
    ({ name, retainedBytes, snapshotAge }) =>
      `${name} (${bytesText(retainedBytes)} of WAL${snapshotAge > 0 ? `, dead rows of ${snapshotAge} transactions` : ''})`,
  );
  const calls = harmful.slice(0, NAMED).map(({ name }) => `pg_drop_replication_slot('${name}')`);
  return advice(
    `the disk of Postgres fills up because of replication slots that nothing reads: ${enumerated(texts)}`,
    `start what reads them, or drop them, as a superuser: SELECT ${calls.join(', ')}`,
  );
}

function describe({ role, database, openSeconds }: PreparedTransaction): string[] {
  return [`role ${role}`, `database ${database}`, `prepared ${durationText(openSeconds)} ago`];
}
