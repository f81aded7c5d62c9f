import { PrismaPg } from '@prisma/adapter-pg';
import { CannotStart, DatabaseClock, KeyedConcurrencyLimit, type Id, Refusal, sleep } from '@posthorn/kernel';
import type { LaneId } from '@posthorn/domain';
import pg from 'pg';
import { TimeoutClient } from './timeout-client.ts';
import { isOutage, isRefusedLogin } from '../faults/faults.ts';
import { PrismaClient } from '../generated/client.ts';
import { SESSION_SETUP } from './session-setup.ts';
import { PoolerRefused, UNSUPPORTED_AT_START } from './pooler.ts';
import { refuseParameters } from './refused-parameters.ts';
import { NEWEST_MIGRATION } from '../migrations/newest-migration.ts';
import { DatabaseUnusable, SchemaOutdated } from '../faults/unusable.ts';
import { withVerifiedTls } from './verified-tls.ts';

/** For how long something may last, in milliseconds. */
interface Limits {
  /** A connection that is not available within this time counts as an outage. */
  readonly connectMs: number;
  readonly lockMs: number;
  readonly statementMs: number;
  /** The locks of a process that vanishes in the middle of a transaction must not last until TCP notices. */
  readonly idleInTransactionMs: number;
  /** A Prisma transaction; longer than any single statement. */
  readonly transactionMs: number;
}

const LIMITS: Limits = {
  connectMs: 3_000,
  lockMs: 2_000,
  statementMs: 5_000,
  idleInTransactionMs: 5_000,
  transactionMs: 10_000,
};

/**
 * Limits concurrent changes of the same subject: one holds its row lock, the next waits for that lock, and the others wait without a connection, because all
 * workspaces share the pool.
 */
const CHANGES_PER_SUBJECT = {
  maxConcurrent: 2,
  maxWaiting: 200,
  refusal: () =>
    new Refusal(
      503,
      'Too many changes wait for each other right now; nothing has been done, send the request again',
      { retryAfterSeconds: 1 },
    ),
};

interface DatabaseOptions {
  readonly url: string;
  /** How many connections this process may hold. */
  readonly poolSize: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Called when an idle connection breaks. */
  readonly onIdleError?: (error: Error) => void;
  /** Called after a commit with the lanes in which it has made events due, so that they can be rung. */
  readonly onEventsDue?: (laneIds: readonly LaneId[]) => void;
  /** Default: those of all processes; tests of something else have more patience. */
  readonly limits?: Partial<Limits>;
}

/** The connection pool of a process, the Prisma client on top of it, and the database's time. */
export interface Database {
  readonly pool: pg.Pool;
  /** For ordinary reads and writes; hot statements are SQL and use the pool directly. */
  readonly prisma: PrismaClient;
  readonly clock: DatabaseClock;
  readonly onEventsDue: (laneIds: readonly LaneId[]) => void;
  /** Limits concurrent changes of the same workspace, contact, email or webhook, by its id. */
  readonly changes: KeyedConcurrencyLimit<Id<string>>;
  readonly limits: Limits;
  close(): Promise<void>;
}

/** The server would confirm commits before they are durable, so accepted emails could be lost. */
class DurabilityRefused extends CannotStart {
  constructor() {
    super(
      'synchronous_commit is off on this Postgres: accepted emails could be lost; set it to on and start again',
    );
  }
}

/**
 * Opens the pool; connects when it is first used.
 *
 * @throws ParameterRefused for a URL with a parameter that it must not have
 */
export function openDatabase(options: DatabaseOptions): Database {
  refuseParameters(options.url);
  const limits = { ...LIMITS, ...options.limits };
  const pool = new pg.Pool({
    Client: TimeoutClient,
    connectionString: withVerifiedTls(options.url),
    max: options.poolSize,
    application_name: options.applicationName,
    connectionTimeoutMillis: limits.connectMs,
    lock_timeout: limits.lockMs,
    statement_timeout: limits.statementMs,
    idle_in_transaction_session_timeout: limits.idleInTransactionMs,
    keepAlive: true,
    // The pool awaits the returned promise, although its type does not say so.
    onConnect: (client) => client.query(SESSION_SETUP) as unknown as void,
  });
  pool.on('error', options.onIdleError ?? (() => undefined));
  // A connection that breaks while in use rejects its query, which is enough; but it also emits `error`, which would end the process without a listener.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  const close = async (): Promise<void> => {
    await prisma.$disconnect();
    if (!pool.ended) await pool.end();
  };
  const { onEventsDue = () => undefined } = options;
  const changes = new KeyedConcurrencyLimit<Id<string>>(CHANGES_PER_SUBJECT);
  return { pool, prisma, clock: new DatabaseClock(), onEventsDue, changes, limits, close };
}

/** How long a starting process waits for a database that is not reachable yet. */
const WAIT_FOR_DATABASE_MS = 30_000;
const RETRY_DELAY_MS = 500;
/** Clock readings at the start: the first one includes the time for connecting, and of several the most precise counts (like the burst of RFC 5905, section 13). */
const CLOCK_READINGS = 8;

/**
 * Waits up to half a minute until the database is reachable, checks that it is durable, that no pooler is in between and that the migrations of this release
 * are applied, and calibrates the clock.
 *
 * @param onWaiting called with the reason, each time that it has to wait
 * @param prepare what the process does in the database before it starts; repeated if the database goes away meanwhile, so it must be idempotent
 * @throws DatabaseUnusable when it stays unreachable, or has a problem that only an operator can fix
 * @throws DurabilityRefused when `synchronous_commit` is off
 * @throws PoolerRefused when a pooler is in between
 * @throws SchemaOutdated when a migration is missing; newer ones are ignored, because this release may start, or start again, while the next one is rolled out
 * @throws what `prepare` throws, unless it is an outage
 */
export async function waitForDatabase(
  database: Database,
  onWaiting: (error: unknown) => void = () => undefined,
  prepare: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const deadline = performance.now() + WAIT_FOR_DATABASE_MS;
  for (;;) {
    try {
      await checkOnce(database);
      for (let reading = 1; reading < CLOCK_READINGS; reading += 1) await checkDatabase(database);
      await prepare();
      return;
    } catch (error) {
      if (UNSUPPORTED_AT_START.test((error as Error).message)) throw new PoolerRefused();
      if (!isOutage(error) || isRefusedLogin(error) || performance.now() > deadline)
        throw DatabaseUnusable.because(error);
      onWaiting(error);
      await sleep(RETRY_DELAY_MS);
    }
  }
}

/**
 * Checks that the database answers, and reads its time. Called every few seconds, it keeps the process's clock calibrated, also after a failover.
 *
 * @throws what `pg` throws
 */
export async function checkDatabase({ pool, clock }: Pick<Database, 'pool' | 'clock'>): Promise<void> {
  const askedAt = performance.now();
  const { rows } = await pool.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  clock.observe(rows[0]!.now.getTime(), askedAt);
}

async function checkOnce(database: Database): Promise<void> {
  const askedAt = performance.now();
  const { rows } = await database.pool.query<{
    now: Date;
    durability: string;
    lockTimeoutMs: string;
    isMigrated: boolean;
  }>(
    `SELECT clock_timestamp() AS now, current_setting('synchronous_commit') AS durability,
            (SELECT setting FROM pg_settings WHERE name = 'lock_timeout') AS "lockTimeoutMs",
            EXISTS (SELECT FROM _prisma_migrations
                    WHERE  migration_name = $1 AND finished_at IS NOT NULL AND rolled_back_at IS NULL) AS "isMigrated"`,
    [NEWEST_MIGRATION],
  );
  const { now, durability, lockTimeoutMs, isMigrated } = rows[0]!;
  database.clock.observe(now.getTime(), askedAt);
  if (Number(lockTimeoutMs) !== database.limits.lockMs) throw new PoolerRefused();
  if (durability === 'off') throw new DurabilityRefused();
  if (!isMigrated) throw new SchemaOutdated();
}
