/**
 * What a failed statement means for what it was to do:
 * - `data`: the database refused a value (SQLSTATE classes 22 and 23); the same again fails again.
 * - `conflict`: two transactions were in each other's way (40001, 40P01); the same again may succeed.
 * - `locked`: somebody held a lock for longer than we wait; nothing has changed.
 * - `unavailable`: nothing was begun; nothing has changed.
 * - `lost`: the connection or the answer was lost; whether the transaction was committed is not known.
 * - `other`: our own fault, such as a statement that does not parse.
 */
export type DatabaseFault = 'data' | 'conflict' | 'locked' | 'unavailable' | 'lost' | 'other';

/** SQLSTATEs and their classes; the longer is looked up first. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const FAULT_OF_SQLSTATE: Readonly<Record<string, DatabaseFault>> = {
  '22': 'data',
  '23': 'data',
  '40001': 'conflict',
  '40P01': 'conflict',
  '40003': 'lost',
  '08': 'lost',
  '08001': 'unavailable',
  '08004': 'unavailable',
  // Terminated by an administrator or a crash: what was under way is rolled back, unless it was the COMMIT itself.
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
  // Existing connections go on; a password that was changed, or a database that is being replaced, is soon right again.
  '28': 'unavailable',
  '3D000': 'unavailable',
  '58': 'lost',
};

/** Node's codes for a connection that never came about. */
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

/** What Prisma makes of the system's errors. */
const FAULT_OF_PRISMA_KIND: Readonly<Record<string, DatabaseFault>> = {
  DatabaseNotReachable: 'unavailable',
  TlsConnectionError: 'unavailable',
  ConnectionClosed: 'lost',
  SocketTimeout: 'lost',
};

/**
 * What Prisma itself says of a transaction: it had no connection for it in time, or undid it because it took too long.
 * https://www.prisma.io/docs/orm/reference/error-reference#p2028
 */
const TRANSACTION_OUT_OF_TIME = 'P2028';

interface Thrown {
  readonly name?: string;
  readonly code?: unknown;
  readonly message?: string;
  readonly syscall?: string;
  /** Prisma keeps what its driver said in here. */
  readonly meta?: { readonly driverAdapterError?: { readonly cause?: PrismaCause } };
  /** What fails at the end of a transaction comes as its driver threw it. */
  readonly cause?: unknown;
}

interface PrismaCause {
  readonly originalCode?: string;
  readonly kind: string;
}

/** Judges an error of `pg`, or one that Prisma made of it. */
export function faultOf(error: unknown): DatabaseFault {
  if (error instanceof AggregateError && error.errors.length > 0) return faultOf(error.errors[0]);
  const { code, message = '', syscall } = (error ?? {}) as Thrown;
  const cause = prismaCauseOf(error ?? {});
  if (cause !== undefined)
    return FAULT_OF_PRISMA_KIND[cause.kind] ?? faultOfCode(cause.originalCode) ?? 'other';
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
  // The system's own codes; those of Node (ERR_…) are mistakes of ours.
  return /^E[A-Z0-9]+$/.test(code) ? 'lost' : undefined;
}

function faultOfMessage(message: string): DatabaseFault {
  if (NEVER_BEGUN.some((pattern) => pattern.test(message))) return 'unavailable';
  return LOST_IN_BETWEEN.some((pattern) => pattern.test(message)) ? 'lost' : 'other';
}

/** Whether the database could not be reached or did not answer, so that the same is worth trying later. */
export function isOutage(error: unknown): boolean {
  const fault = faultOf(error);
  return fault === 'unavailable' || fault === 'lost' || fault === 'locked';
}

const STATEMENT_RAN_OUT_OF_TIME = '57014';

/** Whether a statement took longer than it may, so that the same for fewer rows may succeed. */
export function hasRunOutOfTime(error: unknown): boolean {
  return (error as Thrown | null | undefined)?.code === STATEMENT_RAN_OUT_OF_TIME;
}

/** Whether the server refuses us or has no such database: a process that has just started gains nothing by waiting. */
export function isRefusedLogin(error: unknown): boolean {
  const { code } = (error ?? {}) as Thrown;
  return typeof code === 'string' && /^(28|3D)/.test(code);
}
