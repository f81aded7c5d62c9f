import { advice, durationText, enumerated, fault, type Finding, good, NAMED } from './finding.ts';
import { describeHarm, doesHarm, HARMFUL_LOCK_SECONDS, type LockHarm } from './lock-harm.ts';

/** A session on the database with an open transaction, or with one that its role keeps from being seen. */
export interface OpenTransaction extends LockHarm {
  readonly pid: number;
  readonly role: string;
  readonly applicationName: string;
  /** Null where another role's session does not show it. */
  readonly openSeconds: number | null;
  /** Whether it has no statement under way, but may still send one. */
  readonly isIdle: boolean;
}

const LONG_IDLE_SECONDS = 2 * 60;
/** Backups and migrations may take this long. */
const LONG_SECONDS = 60 * 60;

/** Whether a session keeps Posthorn's statements from being executed, which time out meanwhile. */
export function judgeLocks(transactions: readonly OpenTransaction[]): Finding {
  const holders = transactions.filter(
    (session) => doesHarm(session) && (session.openSeconds ?? Infinity) >= HARMFUL_LOCK_SECONDS,
  );
  if (holders.length === 0) return good('no session keeps a lock that others need');
  return fault(
    `statements fail because of the locks of ${listOf(holders, (session) => [...describe(session), ...describeHarm(session)])}`,
    `let it end its transaction, or end it, as its role or a superuser: ${endingOf(holders)}`,
  );
}

/** Whether a transaction has been open for so long that dead rows cannot be vacuumed. */
export function judgeTransactions(transactions: readonly OpenTransaction[]): Finding {
  const old = transactions.filter(
    ({ isIdle, openSeconds }) => (openSeconds ?? 0) >= (isIdle ? LONG_IDLE_SECONDS : LONG_SECONDS),
  );
  if (old.length === 0) return good('no transaction has been open for long');
  return advice(
    `dead rows are kept, and tables grow, because of the open transactions of ${listOf(old, describe)}`,
    `end it, as its role or a superuser, unless it is a backup that goes on: ${endingOf(old)}`,
  );
}

function listOf(
  sessions: readonly OpenTransaction[],
  describeOne: (one: OpenTransaction) => string[],
): string {
  return enumerated(sessions.map((one) => `pid ${one.pid} (${describeOne(one).join(', ')})`));
}

function describe({ applicationName, role, openSeconds, isIdle }: OpenTransaction): string[] {
  return [
    applicationName || 'without an application name',
    `role ${role}`,
    ...(openSeconds === null
      ? []
      : [`${isIdle ? 'idle in a transaction' : 'in a transaction'} for ${durationText(openSeconds)}`]),
  ];
}

function endingOf(sessions: readonly OpenTransaction[]): string {
  const calls = sessions.slice(0, NAMED).map(({ pid }) => `pg_terminate_backend(${pid})`);
  return `SELECT ${calls.join(', ')}`;
}
