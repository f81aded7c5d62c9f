import { hash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CannotStart, sleep } from '@posthorn/kernel';
import pg from 'pg';
import { faultOf } from '../faults.ts';
import { SESSION_FORMATS } from '../session-formats.ts';
import { PoolerRefused } from '../pooler.ts';
import { throwRefusedConnection } from '../unusable.ts';

/** The advisory lock that Prisma's own migrator takes, so that both exclude each other. */
const MIGRATION_LOCK = 72707369;

/**
 * Whoever wants a table waits behind a statement that waits to change it, and a backup can use a table for an hour. So a migration waits only this
 * long, lets the others pass, and tries again. Autovacuum gives way within a second (`deadlock_timeout`); the apps themselves wait for two.
 */
const LOCK_TIMEOUT_MS = 1_500;
const TRY_AGAIN_MS = 3_000;
const GIVE_UP_AFTER_MS = 30 * 60_000;

/** Also of a server that takes the connection and then says nothing. */
const CONNECT_TIMEOUT_MS = 10_000;
/** For what only reads the history, and waits for nobody. */
const LOOK_TIMEOUT_MS = 5_000;

/** A process that vanishes in the middle of a migration must not hold its locks until TCP notices. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;

/**
 * A migration takes as long as it must, and waits for another process that migrates: what a server, database or role allows the statements of
 * applications would end both.
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

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** A migration that was applied is not what its file now says, its file is gone, or it was applied by half or where nobody looks. */
export class MigrationMismatch extends Error {}

/** Lengths are counted in characters, and everything that people write is kept. */
const ENCODING = 'UTF8';

/** Texts would be kept otherwise than they came: by `SQL_ASCII` each letter beyond ASCII counts as several, by others there is none for most of them. */
class EncodingRefused extends CannotStart {
  constructor(encoding: string) {
    super(
      `The encoding of the database is ${encoding}, which does not keep every text as it is: recreate it with ENCODING '${ENCODING}' TEMPLATE template0`,
    );
  }
}

/**
 * Applies the migrations that the database does not have yet, each in a transaction of its own, and keeps Prisma's own
 * bookkeeping, so that `prisma migrate deploy` finds them applied. Any number of processes may call it at once: they
 * wait for each other.
 *
 * @param databaseUrl whose role may create tables
 * @param directory holds `<timestamp>_<past_tense>/migration.sql`
 * @param onBlocked told, each time, which migration somebody else's lock is in the way of; it is tried again for half an hour
 * @returns the names of the migrations that were applied now
 * @throws MigrationMismatch when history was changed after the fact
 * @throws PoolerRefused when a pooler stands between: it gives each statement another connection, so that nobody would wait for anybody
 * @throws EncodingRefused when the database is not one of UTF-8
 */
export async function runMigrations(
  databaseUrl: string,
  directory: string,
  onBlocked: (name: string) => void = () => undefined,
): Promise<string[]> {
  const migrations = await readMigrations(directory);
  const config = {
    connectionString: databaseUrl,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  };
  return connected(config, async (client) => {
    await refusePooler(client);
    await refuseEncoding(client);
    await client.query(UNHURRIED);
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    // Asked for what it throws. The table is made even where it is there: a server that takes no changes says so now, not only when there is something to change.
    await hasBookkeeping(client);
    await client.query(BOOKKEEPING);
    const missing = await findMissing(client, migrations);
    for (const migration of missing) await applyUnblocked(client, migration, onBlocked);
    return missing.map((migration) => migration.name);
  });
}

/**
 * The names of the migrations that the database does not have yet. Nothing is changed, no lock is taken, and what the database has
 * beyond them does not matter: a pod of the release before may start while the next one is rolled out.
 *
 * @param directory as for {@link runMigrations}
 */
export async function findUnapplied(databaseUrl: string, directory: string): Promise<string[]> {
  const names = (await readMigrations(directory)).map(({ name }) => name);
  return connected({ connectionString: databaseUrl, query_timeout: LOOK_TIMEOUT_MS }, async (client) => {
    if (!(await hasBookkeeping(client))) return names;
    const { rows } = await client.query<{ name: string }>(
      'SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
    );
    const applied = new Set(rows.map(({ name }) => name));
    return names.filter((name) => !applied.has(name));
  });
}

/**
 * What the database lacks, and what is wrong with its history. Nothing is changed, no lock is taken.
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
  return connected(hasty, async (client) => {
    const missing = (await hasBookkeeping(client)) ? await findMissing(client, migrations) : migrations;
    return missing.map(({ name }) => name);
  });
}

/** Does something on a connection of its own. */
async function connected<Result>(
  config: pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = clientFor({ connectionTimeoutMillis: CONNECT_TIMEOUT_MS, ...config });
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

/** Refuses a connection that has lost on the way what it began with. */
async function refusePooler(client: pg.Client): Promise<void> {
  const sql = "SELECT setting FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'";
  const { setting } = (await client.query<{ setting: string }>(sql)).rows[0]!;
  if (Number(setting) !== IDLE_IN_TRANSACTION_TIMEOUT_MS) throw new PoolerRefused();
}

async function refuseEncoding(client: pg.Client): Promise<void> {
  const sql = "SELECT current_setting('server_encoding') AS encoding";
  const { encoding } = (await client.query<{ encoding: string }>(sql)).rows[0]!;
  if (encoding !== ENCODING) throw new EncodingRefused(encoding);
}

/** Whether anything was ever applied. @throws MigrationMismatch when that was in a schema in which this role does not look any more */
async function hasBookkeeping(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean; path: string; hidden: string | null }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS found, current_setting('search_path') AS path,
            (SELECT min(b.relnamespace::regnamespace::text)
             FROM   pg_class b
             JOIN   pg_class e ON e.relnamespace = b.relnamespace AND e.relname = 'event_eras'
             WHERE  b.relname = '_prisma_migrations' AND pg_get_userbyid(b.relowner) = current_user) AS hidden`,
  );
  const { found, path, hidden } = rows[0]!;
  if (!found && hidden !== null)
    throw new MigrationMismatch(
      `the tables are in the schema ${hidden}, which the search_path of this role (${path || 'empty'}) does not name; set it back (ALTER ROLE … RESET search_path), or name that schema`,
    );
  return found;
}

async function readMigrations(directory: string): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(directory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: hash('sha256', sql) };
    }),
  );
}

async function findMissing(client: pg.Client, migrations: Migration[]): Promise<Migration[]> {
  const { rows } = await client.query<{ migration_name: string; checksum: string; finished_at: Date | null }>(
    'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL',
  );
  const unfinished = rows.find((row) => row.finished_at === null);
  if (unfinished !== undefined)
    throw new MigrationMismatch(
      `migration ${unfinished.migration_name} was begun by Prisma and did not finish; repair what it left, then run \`prisma migrate resolve\``,
    );
  const applied = new Map(rows.map((row) => [row.migration_name, row.checksum]));
  const known = new Set(migrations.map((migration) => migration.name));
  for (const name of applied.keys()) {
    if (!known.has(name))
      throw new MigrationMismatch(`the database has migration ${name}, which this release lacks`);
  }
  return migrations.filter((migration) => {
    const checksum = applied.get(migration.name);
    if (checksum !== undefined && checksum !== migration.checksum) {
      throw new MigrationMismatch(
        `migration ${migration.name} was changed after it was applied; add a new one instead`,
      );
    }
    return checksum === undefined;
  });
}

async function applyUnblocked(
  client: pg.Client,
  migration: Migration,
  onBlocked: (name: string) => void,
): Promise<void> {
  const deadline = performance.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    try {
      return await apply(client, migration);
    } catch (error) {
      const isBlocked = ['locked', 'conflict'].includes(faultOf((error as Error).cause));
      if (!isBlocked || performance.now() > deadline) throw error;
      onBlocked(migration.name);
      await sleep(TRY_AGAIN_MS);
    }
  }
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  await client.query(`BEGIN; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
  try {
    await client.query(migration.sql);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), 1)`,
      [randomUUID(), migration.checksum, migration.name],
    );
    await client.query('COMMIT');
  } catch (error) {
    // On a connection that is gone there is nothing left to roll back.
    await client.query('ROLLBACK').catch(() => undefined);
    throw new Error(`migration ${migration.name} failed: ${(error as Error).message}`, { cause: error });
  }
}
