import { PrismaPg } from '@prisma/adapter-pg';
import { CannotStart, DatabaseClock, KeyedConcurrencyLimit, type Id, Refusal, sleep } from '@posthorn/kernel';
import type { LaneId } from '@posthorn/domain';
import pg from 'pg';
import { TimeoutClient } from './timeout-client.ts';
import { isOutage, isRefusedLogin } from './faults.ts';
import { PrismaClient } from './generated/client.ts';
import { SESSION_FORMATS } from './session-formats.ts';
import { PoolerRefused, UNSUPPORTED_AT_START } from './pooler.ts';
import { DatabaseUnusable } from './unusable.ts';

/** A connection that cannot be had within this time is reported as an outage. */
const CONNECT_TIMEOUT_MS = 3_000;
const LOCK_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 5_000;
/** A process that vanishes in the middle of a transaction must not hold its locks until TCP notices. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 5_000;

/**
 * One holds the lock on what it changes, the next one waits for that lock, and the others wait without a connection, because all workspaces share
 * the connections. There is room for a burst of one key.
 */
const CHANGES_PER_SUBJECT = {
  maxConcurrent: 2,
  maxWaiting: 200,
  refusal: () =>
    new Refusal(
      503,
      'Too many changes wait for each other just now; nothing has been done, send the request again',
      { retryAfterSeconds: 1 },
    ),
};

/**
 * Statistics lag behind where tables grow by thousands of rows a second: a plan made for a table that was empty a minute ago would read it from end
 * to end, so that is forbidden wherever there is an index. A plan made for a lane of a few rows would collect the rows and sort them, which for a
 * lane of a hundred thousand takes as long as reading the table; without bitmaps an index is read in its order. The costs by which Postgres forbids
 * all this must not start the JIT compiler.
 */
const PLANNER_SETTINGS = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off';

/**
 * A mail of 24 kB takes 0.23 ms to be compressed by `pglz`, which every server has, and 0.04 ms by `lz4`, which nearly every server has. A choice that
 * was made for the server, the database or the role stands.
 */
const COMPRESSION = `SELECT set_config(name, 'lz4', false) FROM pg_settings
WHERE name = 'default_toast_compression' AND source = 'default' AND 'lz4' = ANY (enumvals)`;

/**
 * Statements wait for whoever changes a row, and go on from what he wrote. At any other level, which can be chosen for the server, the database or the
 * role, they would fail there instead, and two gateways could hardly accept for one workspace. What a connection begins with is one transaction too,
 * and the first that it does is to say so.
 */
const ISOLATION = `SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET default_transaction_isolation = 'read committed'`;

/**
 * In a restored database, lets the order of events go on where it ended and holds everything back; otherwise it changes nothing. Each connection asks,
 * because a database can be replaced behind its name while processes run, and nobody may claim from it before that is known.
 */
const CHECK_EVENT_ERA = 'SELECT keep_event_era()';

/**
 * After a failover the name may lead to the old server for a while, which is a standby by then: a connection to it would stay in use, and take no
 * changes, long after the name leads to the primary.
 */
const REFUSE_STANDBY = `DO $$ BEGIN
IF pg_is_in_recovery() THEN
  RAISE read_only_sql_transaction USING MESSAGE = 'this Postgres is a standby and takes no changes; DATABASE_URL must point at the primary';
END IF; END $$`;

const SESSION_SETUP = [
  ISOLATION,
  REFUSE_STANDBY,
  SESSION_FORMATS,
  PLANNER_SETTINGS,
  COMPRESSION,
  CHECK_EVENT_ERA,
].join('; ');

interface DatabaseOptions {
  readonly url: string;
  /** How many connections this process may hold. */
  readonly poolSize: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Told of connections that broke while nobody used them. */
  readonly onIdleError?: (error: Error) => void;
  /** Told, after a commit, which lanes have events that are due by it: whoever can, rings them. */
  readonly onEventsDue?: (laneIds: readonly LaneId[]) => void;
}

/** The one pool of connections of a process, what is built on it, and the database's time. */
export interface Database {
  readonly pool: pg.Pool;
  /** For what people read and write; the hot statements are SQL and go to the pool. */
  readonly prisma: PrismaClient;
  readonly clock: DatabaseClock;
  readonly onEventsDue: (laneIds: readonly LaneId[]) => void;
  /** Where changes of the same workspace, contact or email wait for each other, by its id. */
  readonly changes: KeyedConcurrencyLimit<Id<string>>;
  close(): Promise<void>;
}

/** The server would answer before a commit is durable, so what was accepted could be lost. */
class DurabilityRefused extends CannotStart {
  constructor() {
    super(
      'synchronous_commit is off on this Postgres: accepted emails could be lost; set it to on and start again',
    );
  }
}

/** Opens the pool; connects when it is first used. */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    Client: TimeoutClient,
    connectionString: options.url,
    max: options.poolSize,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    // The pool waits for what this returns, though its type does not say so.
    onConnect: (client) => client.query(SESSION_SETUP) as unknown as void,
  });
  pool.on('error', options.onIdleError ?? (() => undefined));
  // A connection that breaks inside a transaction tells its query, which is enough, and then emits this, which nobody
  // else listens to while the connection is in use: it would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  const close = async (): Promise<void> => {
    await prisma.$disconnect();
    if (!pool.ended) await pool.end();
  };
  const { onEventsDue = () => undefined } = options;
  const changes = new KeyedConcurrencyLimit<Id<string>>(CHANGES_PER_SUBJECT);
  return { pool, prisma, clock: new DatabaseClock(), onEventsDue, changes, close };
}

/** How long a process that starts waits for a database that is not there yet. */
const GREETED_WITHIN_MS = 30_000;
const TRY_AGAIN_MS = 500;
/** How often its clock is read then: the first answer had to wait for the connection, and of several the most precise one counts (the burst of RFC 5905, section 13). */
const READINGS = 8;

/**
 * Sets the process' idea of the database's time and refuses a database that does not keep what it confirms. Waits up to
 * half a minute for a database that is not there yet.
 *
 * @param onWaiting told, each time that it has to wait, why
 * @throws DatabaseUnusable when it does not come, or refuses what only an operator can change
 * @throws DurabilityRefused when `synchronous_commit` is off
 * @throws PoolerRefused when a pooler stands between
 */
export async function waitForDatabase(
  database: Database,
  onWaiting: (error: unknown) => void = () => undefined,
): Promise<void> {
  const deadline = performance.now() + GREETED_WITHIN_MS;
  for (;;) {
    try {
      await checkOnce(database);
      for (let reading = 1; reading < READINGS; reading += 1) await checkDatabase(database);
      return;
    } catch (error) {
      if (UNSUPPORTED_AT_START.test((error as Error).message)) throw new PoolerRefused();
      if (!isOutage(error) || isRefusedLogin(error) || performance.now() > deadline)
        throw DatabaseUnusable.because(error);
      onWaiting(error);
      await sleep(TRY_AGAIN_MS);
    }
  }
}

/**
 * Checks that the database answers, and reads its time. A process that does so every few seconds follows that time for as long as it lives, and after
 * a failover that of the server that took over.
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
  const { rows } = await database.pool.query<{ now: Date; durability: string; lockTimeoutMs: string }>(
    `SELECT clock_timestamp() AS now, current_setting('synchronous_commit') AS durability,
            (SELECT setting FROM pg_settings WHERE name = 'lock_timeout') AS "lockTimeoutMs"`,
  );
  const { now, durability, lockTimeoutMs } = rows[0]!;
  database.clock.observe(now.getTime(), askedAt);
  if (Number(lockTimeoutMs) !== LOCK_TIMEOUT_MS) throw new PoolerRefused();
  if (durability === 'off') throw new DurabilityRefused();
}
