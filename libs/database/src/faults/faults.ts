import { refusedConnection } from './refused-connection.ts';

/**
 * The kinds of database errors, by what they mean for the transaction:
 * - `data`: the database rejected a value (SQLSTATE classes 22 and 23); a retry fails again.
 * - `conflict`: a serialisation failure or deadlock (40001, 40P01); a retry may succeed.
 * - `locked`: lock timeout; nothing has changed.
 * - `unavailable`: nothing was begun, or there is no partition for a row; nothing has changed.
 * - `lost`: the connection or the answer was lost; it is unknown whether the transaction was committed.
 * - `other`: our own fault, such as a syntax error.
 */
export type DatabaseFault = 'data' | 'conflict' | 'locked' | 'unavailable' | 'lost' | 'other';

/** By SQLSTATE, or else by its class. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const FAULT_OF_SQLSTATE: Readonly<Record<string, DatabaseFault>> = {
  '22': 'data',
  '23': 'data',
  '40001': 'conflict',
  '40P01': 'conflict',
  '40003': 'lost',
  '08': 'lost',
  '08001': 'unavailable',
  '08004': 'unavailable',
  // Terminated by an administrator or a crash: the transaction is rolled back, unless COMMIT was under way.
  '57P01': 'lost',
  '57P02': 'lost',
  '57P03': 'unavailable',
  '57P05': 'lost',
  '57014': 'unavailable',
  '55P03': 'locked',
  '53': 'unavailable',
  '25006': 'unavailable',
  // Idle in a transaction, or in it altogether, for too long: rolled back.
  '25P03': 'unavailable',
  '25P04': 'unavailable',
  // Existing connections continue; a changed password, or a database that is being replaced, is usually fixed soon.
  '28': 'unavailable',
  '3D000': 'unavailable',
  '58': 'lost',
};

/** Node's codes for a connection that was never established. */
const NEVER_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);
const NEVER_BEGUN = [
  /timeout exceeded when trying to connect/i,
  /due to connection timeout/i,
  /Cannot use a pool after calling end/i,
];
const LOST_IN_BETWEEN = [
  /Connection terminated/i,
  /Query read timeout/i,
  /not queryable/i,
  /Client has encountered/i,
];

/**
 * The routine of Postgres that finds no partition for a row. Its SQLSTATE is that of a CHECK, and its message is in the language of the server. A scheduler
 * makes missing months within seconds.
 */
const FIND_PARTITION = 'ExecFindPartition';

/** Prisma's kinds of system errors. */
const FAULT_OF_PRISMA_KIND: Readonly<Record<string, DatabaseFault>> = {
  DatabaseNotReachable: 'unavailable',
  TlsConnectionError: 'unavailable',
  ConnectionClosed: 'lost',
  SocketTimeout: 'lost',
};

/**
 * Prisma's own error of a transaction: it got no connection in time, or was rolled back because it took too long.
 * https://www.prisma.io/docs/orm/reference/error-reference#p2028
 */
const TRANSACTION_OUT_OF_TIME = 'P2028';

interface Thrown {
  readonly name?: string;
  readonly code?: unknown;
  readonly routine?: string;
  readonly message?: string;
  readonly syscall?: string;
  /** Here Prisma keeps the error of its driver. */
  readonly meta?: { readonly driverAdapterError?: { readonly cause?: PrismaCause } };
  /** An error at the end of a transaction is the driver's own. */
  readonly cause?: unknown;
}

interface PrismaCause {
  readonly originalCode?: string;
  readonly kind: string;
}

/** Classifies an error of `pg` or Prisma. */
export function faultOf(error: unknown): DatabaseFault {
  if (error instanceof AggregateError && error.errors.length > 0) return faultOf(error.errors[0]);
  const { code, routine, message = '', syscall } = (error ?? {}) as Thrown;
  const cause = prismaCauseOf(error ?? {});
  if (refusedConnection(error) !== undefined) return 'unavailable';
  if (cause !== undefined)
    return FAULT_OF_PRISMA_KIND[cause.kind] ?? faultOfCode(cause.originalCode) ?? 'other';
  if (routine === FIND_PARTITION) return 'unavailable';
  return faultOfCode(code, syscall) ?? faultOfMessage(message);
}

function prismaCauseOf({ name, cause, meta }: Thrown): PrismaCause | undefined {
  if (name === 'DriverAdapterError') return cause as PrismaCause | undefined;
  return meta?.driverAdapterError?.cause;
}

function faultOfCode(code: unknown, syscall?: string): DatabaseFault | undefined {
  if (typeof code !== 'string') return undefined;
  if (code === TRANSACTION_OUT_OF_TIME) return 'unavailable';
  const known =
    FAULT_OF_SQLSTATE[code] ?? (/^[0-9A-Z]{5}$/.test(code) ? FAULT_OF_SQLSTATE[code.slice(0, 2)] : undefined);
  if (known !== undefined) return known;
  if (NEVER_CONNECTED.has(code) || syscall === 'connect') return 'unavailable';
  // System error codes; Node's own (ERR_…) are bugs of ours.
  return /^E[A-Z0-9]+$/.test(code) ? 'lost' : undefined;
}

function faultOfMessage(message: string): DatabaseFault {
  if (NEVER_BEGUN.some((pattern) => pattern.test(message))) return 'unavailable';
  return LOST_IN_BETWEEN.some((pattern) => pattern.test(message)) ? 'lost' : 'other';
}

/** The faults after which the same work may succeed later. */
const OUTAGES = new Set<DatabaseFault>(['unavailable', 'lost', 'locked', 'conflict']);

/** Whether the database was unreachable, did not answer, or had to let another transaction go first, so that a later retry may succeed. */
export function isOutage(error: unknown): boolean {
  return OUTAGES.has(faultOf(error));
}

const STATEMENT_RAN_OUT_OF_TIME = '57014';

/** Whether a statement timed out, so that it may succeed with fewer rows. */
export function hasRunOutOfTime(error: unknown): boolean {
  return (error as Thrown | null | undefined)?.code === STATEMENT_RAN_OUT_OF_TIME;
}

/** Whether the server or our side rejects the connection or the login, or there is no such database: a starting process need not wait for that to change. */
export function isRefusedLogin(error: unknown): boolean {
  const { code } = (error ?? {}) as Thrown;
  return refusedConnection(error) !== undefined || (typeof code === 'string' && /^(28|3D)/.test(code));
}
