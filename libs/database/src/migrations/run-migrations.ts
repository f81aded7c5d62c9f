import { randomUUID } from 'node:crypto';
import { sleep } from '@posthorn/kernel';
import pg from 'pg';
import { faultOf } from '../faults/faults.ts';
import { SESSION_FORMATS } from '../connection/session-setup.ts';
import { PoolerRefused } from '../connection/pooler.ts';
import { refuseParameters } from '../connection/refused-parameters.ts';
import { throwRefusedConnection } from '../faults/unusable.ts';
import { withVerifiedTls } from '../connection/verified-tls.ts';
import {
  buildConcurrently,
  concurrentIndexOf,
  LOCK_TIMEOUT_MS,
  type Persistently,
} from './concurrent-index.ts';
import { type Migration, missingOf, readHistory, readMigrations } from './migration-history.ts';
import { MIGRATION_LOCK, type MigrationDelay, MigrationWatch } from './migration-watch.ts';
import { refuseTextSettings } from './refuse-text-settings.ts';

/**
 * While a migration waits for the lock of a table, which a backup can hold for an hour, all later statements on that table queue behind it. So it waits
 * only for {@link LOCK_TIMEOUT_MS}, lets the others proceed, and retries. Autovacuum yields within a second (`deadlock_timeout`); the apps themselves wait for two.
 */
const TRY_AGAIN_MS = 3_000;
const GIVE_UP_AFTER_MS = 30 * 60_000;
const ASK_FOR_LOCK_EVERY_MS = 250;

/** Also applies to a server that accepts the connection and then sends nothing. */
const CONNECT_TIMEOUT_MS = 10_000;
/** For statements that only read the history, and wait for no lock. */
const LOOK_TIMEOUT_MS = 5_000;

/** A process that vanishes between two statements of a migration must not hold its locks until TCP notices. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;

/**
 * Makes Postgres notice within a second that the process is gone: otherwise a statement that takes minutes, such as building an index, would go on, and keep its
 * locks, only to be rolled back at its end, and the next run would wait for it. Postgres cannot notice that on Windows, and refuses the setting there.
 */
const NOTICE_LOSS = `DO $$ BEGIN
PERFORM set_config('client_connection_check_interval', '1s', false);
EXCEPTION WHEN invalid_parameter_value THEN NULL;
END $$`;

/**
 * Disables timeouts that the server, database or role sets for applications: a migration may take long, and waits for other processes that
 * migrate.
 */
const UNHURRIED = `SELECT set_config(name, '0', false) FROM pg_settings
WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout')`;

const BOOKKEEPING = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id                  varchar(36)  PRIMARY KEY,
    checksum            varchar(64)  NOT NULL,
    finished_at         timestamptz,
    migration_name      varchar(255) NOT NULL,
    logs                text,
    rolled_back_at      timestamptz,
    started_at          timestamptz  NOT NULL DEFAULT now(),
    applied_steps_count integer      NOT NULL DEFAULT 0
  )`;

/**
 * Acts as the role to which the tables belong: a superuser or a member of that role may migrate too, but what it made would belong to itself, and the apps
 * could not use it. Fails before anything is changed for whoever may not act as that role.
 */
const ACT_AS_OWNER = `SELECT set_config('role', pg_get_userbyid(relowner), false) FROM pg_class WHERE oid = to_regclass('_prisma_migrations')`;

/** A migration failed, and was rolled back, unless the connection was lost when it was committed, or it builds an index concurrently. `cause` is the error. */
class MigrationFailed extends Error {
  constructor(
    readonly migration: string,
    override readonly cause: Error,
  ) {
    super(`migration ${migration} failed: ${cause.message}`);
  }
}

/**
 * Applies the migrations that the database does not have yet, each in a transaction of its own or as an index that is built concurrently, and records them
 * as Prisma does, so that `prisma migrate deploy` finds them applied. Safe to call from several processes concurrently: they
 * wait for each other.
 *
 * @param databaseUrl with the role to which the tables belong or will belong, or one that may act as it
 * @param directory holds `<timestamp>_<past_tense>/migration.sql`
 * @param onDelay called every five seconds of a migration. One that cannot get a lock is retried for half an hour
 * @returns the names of the migrations that were applied now
 * @throws MigrationMismatch when the files do not match the history
 * @throws MigrationFailed
 * @throws PoolerRefused when a pooler is in between: it may run each statement on another connection, so that the advisory lock has no effect
 * @throws EncodingRefused, LocaleRefused when the database stores or compares texts in another way than Posthorn relies on
 */
export async function runMigrations(
  databaseUrl: string,
  directory: string,
  onDelay: (delay: MigrationDelay) => void = () => undefined,
): Promise<string[]> {
  const migrations = await readMigrations(directory);
  const config = {
    connectionString: databaseUrl,
    application_name: 'posthorn-migrate',
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  };
  return connected(config, async (client) => {
    const watch = new MigrationWatch(databaseUrl, onDelay);
    try {
      await refusePooler(client);
      await refuseTextSettings(client);
      watch.follow(await pidOf(client));
      await client.query(UNHURRIED);
      await client.query(NOTICE_LOSS);
      await lock(client);
      const history = await readHistory(client);
      await client.query(ACT_AS_OWNER);
      // Even where it is there: a server that accepts no writes says so now, not only when there is something to change.
      await client.query(BOOKKEEPING);
      const missing = missingOf(migrations, history);
      for (const migration of missing) await apply(client, migration, watch);
      return missing.map((migration) => migration.name);
    } finally {
      await watch.end();
    }
  });
}

/**
 * The names of the migrations that the database does not have yet. Changes nothing and takes no lock. Ignores newer migrations of the
 * database, because a pod of the previous release may start while the next one is rolled out.
 *
 * @param directory as for {@link runMigrations}
 */
export async function findUnapplied(databaseUrl: string, directory: string): Promise<string[]> {
  const names = (await readMigrations(directory)).map(({ name }) => name);
  return connected({ connectionString: databaseUrl, query_timeout: LOOK_TIMEOUT_MS }, async (client) => {
    const finished = (await readHistory(client)).filter(({ isFinished }) => isFinished);
    const applied = new Set(finished.map(({ name }) => name));
    return names.filter((name) => !applied.has(name));
  });
}

/**
 * The migrations that the database does not have yet; also checks its history. Changes nothing and takes no lock.
 *
 * @param directory as for {@link runMigrations}
 * @throws MigrationMismatch as {@link runMigrations} does
 */
export async function examineMigrations(databaseUrl: string, directory: string): Promise<string[]> {
  const migrations = await readMigrations(directory);
  const hasty = {
    connectionString: databaseUrl,
    connectionTimeoutMillis: LOOK_TIMEOUT_MS,
    query_timeout: LOOK_TIMEOUT_MS,
  };
  return connected(hasty, async (client) =>
    missingOf(migrations, await readHistory(client)).map(({ name }) => name),
  );
}

/**
 * Runs the work on a connection of its own.
 *
 * @throws ParameterRefused for a URL with a parameter that it must not have
 */
async function connected<Result>(
  config: pg.ClientConfig & { readonly connectionString: string },
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  refuseParameters(config.connectionString);
  const connectionString = withVerifiedTls(config.connectionString);
  const client = clientFor({ connectionTimeoutMillis: CONNECT_TIMEOUT_MS, ...config, connectionString });
  // A connection that breaks tells the statement under way; what it emits besides would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect().catch(throwRefusedConnection);
    await client.query(SESSION_FORMATS);
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function clientFor(config: pg.ClientConfig): pg.Client {
  try {
    // Reads the certificates that the URL names.
    return new pg.Client(config);
  } catch (error) {
    throwRefusedConnection(error);
  }
}

/** Refuses a connection whose startup parameters did not reach the server. */
async function refusePooler(client: pg.Client): Promise<void> {
  const sql = "SELECT setting FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'";
  const { setting } = (await client.query<{ setting: string }>(sql)).rows[0]!;
  if (Number(setting) !== IDLE_IN_TRANSACTION_TIMEOUT_MS) throw new PoolerRefused();
}

async function pidOf(client: pg.Client): Promise<number> {
  return (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]!.pid;
}

/** Asks again and again: whoever waits in a statement would keep an index that the other one builds concurrently from being finished. */
async function lock(client: pg.Client): Promise<void> {
  const sql = 'SELECT pg_try_advisory_lock($1) AS locked';
  for (;;) {
    if ((await client.query<{ locked: boolean }>(sql, [MIGRATION_LOCK])).rows[0]!.locked) return;
    await sleep(ASK_FOR_LOCK_EVERY_MS);
  }
}

async function apply(client: pg.Client, migration: Migration, watch: MigrationWatch): Promise<void> {
  watch.begin(migration.name);
  const persistently: Persistently = (step) => untilUnblocked(step, watch);
  try {
    const index = concurrentIndexOf(migration.sql);
    if (index === undefined) return await persistently(() => applyInTransaction(client, migration));
    await buildConcurrently(client, index, persistently);
    await record(client, migration);
  } catch (error) {
    throw new MigrationFailed(migration.name, error as Error);
  }
}

async function untilUnblocked<Result>(step: () => Promise<Result>, watch: MigrationWatch): Promise<Result> {
  const deadline = performance.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    try {
      return await step();
    } catch (error) {
      const isBlocked = ['locked', 'conflict'].includes(faultOf(error));
      if (!isBlocked || performance.now() > deadline) throw error;
      await watch.rest(TRY_AGAIN_MS);
    }
  }
}

async function applyInTransaction(client: pg.Client, migration: Migration): Promise<void> {
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await client.query(migration.sql);
    await record(client, migration);
    await client.query('COMMIT');
  } catch (error) {
    // On a connection that is gone there is nothing left to roll back.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function record(client: pg.Client, { name, checksum }: Migration): Promise<void> {
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, now(), 1)`,
    [randomUUID(), checksum, name],
  );
}
