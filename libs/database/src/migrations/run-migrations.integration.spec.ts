import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hash, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FaultProxy, PrivatePostgres } from '@posthorn/testing';
import pg from 'pg';
import { openTestClient } from '../open-test-client.fixture.ts';
import { startPoolerWithout } from '../connection/pooler.fixture.ts';
import { PoolerRefused } from '../connection/pooler.ts';
import { MigrationMismatch } from './migration-history.ts';
import type { MigrationDelay } from './migration-watch.ts';
import { examineMigrations, findUnapplied, runMigrations } from './run-migrations.ts';

const FIRST = '20300101000000_first_laid';
const SECOND = '20300102000000_second_laid';

const { client, url: databaseUrl } = await openTestClient();
let directory: string;

beforeEach(async () => {
  await client.query('DROP SCHEMA public CASCADE');
  await client.query('CREATE SCHEMA public');
  directory = await mkdtemp(join(tmpdir(), 'posthorn-migrations-'));
  await writeFile(join(directory, 'migration_lock.toml'), 'provider = "postgresql"\n');
  await write(FIRST, 'CREATE TABLE first (n int);\nINSERT INTO first VALUES (1);\n');
  await write(SECOND, 'ALTER TABLE first ADD COLUMN m int;');
});
afterEach(() => rm(directory, { recursive: true }));

async function write(name: string, sql: string): Promise<void> {
  await mkdir(join(directory, name), { recursive: true });
  await writeFile(join(directory, name, 'migration.sql'), sql);
}

function migrate(): Promise<string[]> {
  return runMigrations(databaseUrl, directory);
}

async function query(sql: string): Promise<Record<string, unknown>[]> {
  return (await client.query<Record<string, unknown>>(sql)).rows;
}

async function openSession(name: string): Promise<{ session: pg.Client; pid: number }> {
  const session = new pg.Client({ connectionString: databaseUrl, application_name: name });
  await session.connect();
  return { session, pid: Number((await session.query('SELECT pg_backend_pid() AS pid')).rows[0].pid) };
}

describe('The migration runner', () => {
  it('applies missing migrations in the order of their names, and nothing the second time', async () => {
    expect(await migrate()).toEqual([FIRST, SECOND]);
    expect(await migrate()).toEqual([]);
    expect(await query('SELECT * FROM first')).toEqual([{ n: 1, m: null }]);
  });

  it('recognises applied migrations whatever DateStyle is set', async () => {
    const { name } = (await query('SELECT current_database() AS name'))[0]!;
    await query(`ALTER DATABASE ${String(name)} SET datestyle = 'SQL, DMY'`);
    expect(await migrate()).toEqual([FIRST, SECOND]);
    expect(await migrate()).toEqual([]);
    await query(`ALTER DATABASE ${String(name)} RESET datestyle`);
  });

  it.each(['standard_conforming_strings = off', 'quote_all_identifiers = on'])(
    'makes what a migration says where %s is chosen',
    async (choice) => {
      await write(SECOND, "CREATE TABLE second AS SELECT '\\d' AS pattern, 'first'::regclass::text AS name;");
      const url = new URL(databaseUrl);
      url.searchParams.set('options', `-c ${choice.replaceAll(' ', '')}`);
      expect(await runMigrations(url.href, directory)).toEqual([FIRST, SECOND]);
      expect(await query('SELECT * FROM second')).toEqual([{ pattern: '\\d', name: 'first' }]);
    },
  );

  it.each(['statement_timeout', 'lock_timeout', 'transaction_timeout'])(
    'takes as long as it must, and waits for another one, whatever %s is set for the role',
    async (name) => {
      const known = await query(`SELECT FROM pg_settings WHERE name = '${name}'`);
      if (known.length === 0) return;
      // Longer than what is done before that is turned off takes on a busy machine.
      await write(SECOND, 'SELECT pg_sleep(2.5); CREATE TABLE second ();');
      const url = new URL(databaseUrl);
      url.searchParams.set('options', `-c ${name}=2000`);
      expect(await Promise.all([1, 2].map(() => runMigrations(url.href, directory)))).toContainEqual([
        FIRST,
        SECOND,
      ]);
    },
  );

  it('applies migrations that were added since', async () => {
    await migrate();
    await write('20300103000000_third_laid', 'CREATE TABLE third ();');
    expect(await migrate()).toEqual(['20300103000000_third_laid']);
  });

  it('lists missing migrations without changing anything, even if the database has newer ones', async () => {
    expect(await findUnapplied(databaseUrl, directory)).toEqual([FIRST, SECOND]);
    expect(await query("SELECT to_regclass('_prisma_migrations') AS books")).toEqual([{ books: null }]);
    await migrate();
    await write('20300103000000_third_laid', 'CREATE TABLE third ();');
    expect(await findUnapplied(databaseUrl, directory)).toEqual(['20300103000000_third_laid']);
    await migrate();
    await rm(join(directory, SECOND), { recursive: true });
    expect(await findUnapplied(databaseUrl, directory)).toEqual([]);
  });

  it("writes the history in Prisma's own format", async () => {
    await migrate();
    const rows = await query('SELECT * FROM _prisma_migrations ORDER BY started_at');
    expect(rows).toEqual(
      [
        [FIRST, 'CREATE TABLE first (n int);\nINSERT INTO first VALUES (1);\n'],
        [SECOND, 'ALTER TABLE first ADD COLUMN m int;'],
      ].map(([name, sql]) => ({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        checksum: hash('sha256', sql!),
        finished_at: expect.any(Date),
        migration_name: name,
        logs: null,
        rolled_back_at: null,
        started_at: expect.any(Date),
        applied_steps_count: 1,
      })),
    );
    const columns = `SELECT column_name || ' ' || data_type || coalesce('(' || character_maximum_length || ')', '')
      || CASE is_nullable WHEN 'NO' THEN ' not null' ELSE '' END || coalesce(' default ' || column_default, '') AS words
      FROM information_schema.columns WHERE table_name = '_prisma_migrations' ORDER BY ordinal_position`;
    // As Prisma's schema engine makes it: sql_schema_connector/src/flavour/postgres.rs.
    expect((await query(columns)).map(({ words }) => words)).toEqual([
      'id character varying(36) not null',
      'checksum character varying(64) not null',
      'finished_at timestamp with time zone',
      'migration_name character varying(255) not null',
      'logs text',
      'rolled_back_at timestamp with time zone',
      'started_at timestamp with time zone not null default now()',
      'applied_steps_count integer not null default 0',
    ]);
  });

  it('applies again what Prisma has marked as rolled back', async () => {
    await migrate();
    await client.query(
      `UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name = '${SECOND}'`,
    );
    await client.query('ALTER TABLE first DROP COLUMN m');
    expect(await migrate()).toEqual([SECOND]);
  });

  it('applies each migration once when several processes start at once', async () => {
    await write(SECOND, 'SELECT pg_sleep(0.1); CREATE TABLE second ();');
    const applied = await Promise.all([1, 2, 3, 4].map(migrate));
    expect(applied.flat().sort()).toEqual([FIRST, SECOND]);
    expect(await query('SELECT count(*)::int AS rows FROM _prisma_migrations')).toEqual([{ rows: 2 }]);
  });

  it('refuses a pooler, behind which its lock would not exclude a second runner', async () => {
    const pooler = await startPoolerWithout('idle_in_transaction_session_timeout', databaseUrl);
    await expect(runMigrations(pooler.url, directory)).rejects.toThrow(PoolerRefused);
    pooler.close();
    expect(await query("SELECT to_regclass('_prisma_migrations') AS books")).toEqual([{ books: null }]);
  });

  it.each([
    [
      'the encoding SQL_ASCII, where a letter is several characters',
      "ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C'",
      "The encoding of the database is SQL_ASCII, which does not keep every text as it is: recreate it with ENCODING 'UTF8' TEMPLATE template0",
    ],
    [
      'the encoding LATIN1, which lacks most letters',
      "ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'",
      "The encoding of the database is LATIN1, which does not keep every text as it is: recreate it with ENCODING 'UTF8' TEMPLATE template0",
    ],
    [
      'a Turkish locale, in which the lower case of I is not i',
      "ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'tr-TR' LOCALE 'C'",
      "The locale of the database (tr-TR) would take INFO@example.com and info@example.com for different addresses: recreate it with LOCALE 'C.UTF-8' LOCALE_PROVIDER libc TEMPLATE template0",
    ],
  ])('refuses a database with %s, before it makes anything', async (_, options, message) => {
    const url = new URL(databaseUrl);
    url.pathname += '_unusable';
    const name = url.pathname.slice(1);
    await query(`CREATE DATABASE ${name} ${options} TEMPLATE template0`);
    try {
      await expect(runMigrations(url.href, directory)).rejects.toThrow(message);
      expect(await examineMigrations(url.href, directory)).toEqual([FIRST, SECOND]);
    } finally {
      await query(`DROP DATABASE ${name} WITH (FORCE)`);
    }
  });

  it('makes everything for the role to which the tables belong, as long as it may act as it', async () => {
    const member = new URL(databaseUrl);
    [member.username, member.password] = ['member_of_owner', 'member'];
    await client.query(`
      CREATE ROLE owner_of_tables; CREATE ROLE member_of_owner LOGIN PASSWORD 'member';
      GRANT ALL ON SCHEMA public TO owner_of_tables, member_of_owner`);
    try {
      await migrate();
      await client.query(
        'ALTER TABLE first OWNER TO owner_of_tables; ALTER TABLE _prisma_migrations OWNER TO owner_of_tables',
      );
      await write('20300103000000_third_laid', 'CREATE TABLE third ();');
      expect(await migrate()).toEqual(['20300103000000_third_laid']);
      await write('20300104000000_fourth_laid', 'CREATE TABLE fourth ();');
      await client.query('GRANT SELECT ON _prisma_migrations TO member_of_owner');
      await expect(runMigrations(member.href, directory)).rejects.toThrow('permission denied to set role');
      await client.query('GRANT owner_of_tables TO member_of_owner');
      expect(await runMigrations(member.href, directory)).toEqual(['20300104000000_fourth_laid']);
      expect(
        await query(
          "SELECT relname FROM pg_class WHERE relowner = 'owner_of_tables'::regrole AND relkind = 'r'",
        ),
      ).toHaveLength(4);
    } finally {
      await client.query('DROP OWNED BY owner_of_tables, member_of_owner');
      await client.query('DROP ROLE owner_of_tables, member_of_owner');
    }
  });

  it("waits for Prisma's own migrator", async () => {
    await client.query('SELECT pg_advisory_lock(72707369)');
    let isDone = false;
    const migrating = migrate().finally(() => (isDone = true));
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(isDone).toBe(false);
    await client.query('SELECT pg_advisory_unlock(72707369)');
    expect(await migrating).toHaveLength(2);
  });

  it('rolls back a migration that fails, keeps those before it, and names it', async () => {
    await write(SECOND, 'CREATE TABLE second ();\nINSERT INTO first VALUES (2);\nSELECT 1 / 0;');
    await expect(migrate()).rejects.toThrow(`migration ${SECOND} failed: division by zero`);
    expect(await query(`SELECT to_regclass('second') AS second, count(*)::int AS rows FROM first`)).toEqual([
      { second: null, rows: 1 },
    ]);
    expect(await query('SELECT migration_name FROM _prisma_migrations')).toEqual([{ migration_name: FIRST }]);

    await write(SECOND, 'CREATE TABLE second ();');
    expect(await migrate()).toEqual([SECOND]);
  });

  it('does not block others for long while it waits for a table that, for instance, a backup has locked', async () => {
    await migrate();
    await write('20300103000000_third_laid', 'ALTER TABLE first ADD COLUMN k int;');
    const { session: backup, pid } = await openSession('backup');
    try {
      await backup.query('BEGIN; LOCK TABLE first IN ACCESS SHARE MODE');
      let blocked: (delay: MigrationDelay) => void;
      const isBlocked = new Promise<MigrationDelay>((resolve) => (blocked = resolve));
      const migrating = runMigrations(databaseUrl, directory, (delay) => blocked(delay));
      expect(await isBlocked).toMatchObject({
        migration: '20300103000000_third_laid',
        holders: [{ pid, applicationName: 'backup' }],
      });
      expect(await query('SELECT n FROM first')).toEqual([{ n: 1 }]);
      await backup.query('COMMIT');
      expect(await migrating).toEqual(['20300103000000_third_laid']);
    } finally {
      await backup.end();
    }
  });

  it('says that it waits for a prepared transaction, which has no pid', async () => {
    const settings = { max_prepared_transactions: '1' };
    const postgres = await PrivatePostgres.start({ settings, isEmpty: true });
    const holder = new pg.Client({ connectionString: postgres.url });
    await holder.connect();
    try {
      await holder.query('CREATE TABLE third ()');
      await holder.query("BEGIN; LOCK TABLE third IN ACCESS SHARE MODE; PREPARE TRANSACTION 'left behind'");
      await write('20300103000000_third_laid', 'ALTER TABLE third ADD COLUMN k int;');
      let blocked: (delay: MigrationDelay) => void;
      const isBlocked = new Promise<MigrationDelay>((resolve) => (blocked = resolve));
      const migrating = runMigrations(postgres.url, directory, (delay) => blocked(delay));
      expect((await isBlocked).holders).toEqual([{ pid: 0, role: '', applicationName: '' }]);
      await holder.query("ROLLBACK PREPARED 'left behind'");
      expect(await migrating).toHaveLength(3);
    } finally {
      await holder.end();
      await postgres.close();
    }
  });

  it('does not go on with a statement, and its locks, after the process that began it was killed', async () => {
    await write(SECOND, 'ALTER TABLE first ADD COLUMN m int; SELECT pg_sleep(3600);');
    const proxy = await FaultProxy.before(databaseUrl);
    const killed = runMigrations(proxy.urlFor(databaseUrl), directory);
    const isUnderWay = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;
    while ((await query(isUnderWay)).length === 0) await sleep(50);
    await proxy.refuse();
    await expect(killed).rejects.toThrow(`migration ${SECOND} failed: `);
    await write(SECOND, 'ALTER TABLE first ADD COLUMN m int;');
    expect(await migrate()).toEqual([SECOND]);
  });

  it('names the migration during which the connection was lost', async () => {
    await write(SECOND, 'SELECT pg_terminate_backend(pg_backend_pid());');
    await expect(migrate()).rejects.toThrow(`migration ${SECOND} failed: `);
  });
});

describe('A migration that is only an index built concurrently', () => {
  const THIRD = '20300103000000_third_indexed';
  const isValid = async (index: string): Promise<unknown> =>
    (await query(`SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('${index}')`))[0]
      ?.indisvalid;

  beforeEach(() => migrate());

  it('lets others write to the table meanwhile, waits for transactions that began before, and says so', async () => {
    await write(
      THIRD,
      '-- Found by n.\nCREATE INDEX CONCURRENTLY IF NOT EXISTS first_n_idx\nON first (n) WHERE n > 0;\n',
    );
    const { pid, session } = await openSession('backup');
    try {
      await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM first');
      let blocked: (delay: MigrationDelay) => void;
      const isBlocked = new Promise<MigrationDelay>((resolve) => (blocked = resolve));
      const migrating = runMigrations(databaseUrl, directory, (delay) => blocked(delay));
      expect(await isBlocked).toMatchObject({
        migration: THIRD,
        holders: [{ pid, applicationName: 'backup' }],
        index: { table: 'first', phase: expect.stringContaining('waiting') },
      });
      await client.query(`SET lock_timeout = 1; INSERT INTO first VALUES (2); RESET lock_timeout`);
      await session.query('COMMIT');
      expect(await migrating).toEqual([THIRD]);
      expect(await isValid('first_n_idx')).toBe(true);
    } finally {
      await session.end();
    }
  });

  it('is built once when several processes start at once', async () => {
    await write(THIRD, 'CREATE INDEX CONCURRENTLY IF NOT EXISTS first_n_idx ON first (n)');
    const applied = await Promise.all([1, 2, 3].map(() => migrate()));
    expect(applied.flat()).toEqual([THIRD]);
    expect(await isValid('first_n_idx')).toBe(true);
  });

  it('is built again when the process was killed in between, and recorded when it was killed afterwards', async () => {
    await write(THIRD, 'CREATE INDEX CONCURRENTLY IF NOT EXISTS first_n_idx ON first (n)');
    const { session } = await openSession('forgotten');
    const proxy = await FaultProxy.before(databaseUrl);
    try {
      await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM first');
      const killed = runMigrations(proxy.urlFor(databaseUrl), directory);
      while ((await isValid('first_n_idx')) === undefined) await sleep(50);
      await proxy.refuse();
      await expect(killed).rejects.toThrow(`migration ${THIRD} failed: `);
      await session.query('COMMIT');
      expect(await migrate()).toEqual([THIRD]);
      expect(await isValid('first_n_idx')).toBe(true);

      const { oid } = (await query(`SELECT 'first_n_idx'::regclass::oid AS oid`))[0]!;
      await client.query('DELETE FROM _prisma_migrations WHERE migration_name = $1', [THIRD]);
      expect(await migrate()).toEqual([THIRD]);
      expect(await query(`SELECT 'first_n_idx'::regclass::oid AS oid`)).toEqual([{ oid }]);
    } finally {
      await session.end();
      await proxy.close();
    }
  });

  it('leaves nothing behind when rows contradict it', async () => {
    await client.query('INSERT INTO first VALUES (1)');
    await write(THIRD, 'CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS first_n_key ON first (n)');
    await expect(migrate()).rejects.toThrow(`migration ${THIRD} failed: could not create unique index`);
    expect(await query(`SELECT to_regclass('first_n_key') AS index`)).toEqual([{ index: null }]);
    await client.query('DELETE FROM first');
    expect(await migrate()).toEqual([THIRD]);
    await expect(client.query('INSERT INTO first VALUES (1), (1)')).rejects.toThrow('first_n_key');
  });

  it('is built on each partition of a partitioned table, also those that others make meanwhile', async () => {
    await client.query(`CREATE TABLE posts (n int) PARTITION BY RANGE (n);
      CREATE TABLE posts_1 PARTITION OF posts FOR VALUES FROM (0) TO (10);
      CREATE TABLE posts_2 PARTITION OF posts FOR VALUES FROM (10) TO (20);
      INSERT INTO posts VALUES (1), (11)`);
    await write(THIRD, 'CREATE INDEX CONCURRENTLY IF NOT EXISTS posts_n_idx ON posts (n)');
    const { session } = await openSession('backup');
    try {
      await session.query('BEGIN; SELECT FROM posts_2');
      const migrating = migrate();
      while ((await isValid('posts_2_n_idx')) === undefined) await sleep(50);
      expect(await isValid('posts_1_n_idx')).toBe(true);
      await client.query(
        'CREATE TABLE posts_3 (n int); ALTER TABLE posts ATTACH PARTITION posts_3 FOR VALUES FROM (20) TO (30)',
      );
      await client.query('INSERT INTO posts VALUES (2), (12), (22)');
      await session.query('COMMIT');
      expect(await migrating).toEqual([THIRD]);
    } finally {
      await session.end();
    }
    expect(await isValid('posts_n_idx')).toBe(true);
    expect(
      await query(`SELECT count(*)::int AS parts FROM pg_inherits WHERE inhparent = 'posts_n_idx'::regclass`),
    ).toEqual([{ parts: 3 }]);
    await client.query('SET enable_seqscan = off');
    const plan = await query('EXPLAIN SELECT FROM posts WHERE n = 12');
    await client.query('RESET enable_seqscan');
    expect(JSON.stringify(plan)).toContain('posts_2_n_idx');
  });

  it('is refused by Postgres beside other statements', async () => {
    await write(THIRD, 'CREATE INDEX CONCURRENTLY IF NOT EXISTS first_n_idx ON first (n); SELECT 1;');
    await expect(migrate()).rejects.toThrow('cannot run inside a transaction block');
  });
});

describe('An inconsistent migration history', () => {
  it('is refused when the text of an applied migration has changed, even by a space', async () => {
    await migrate();
    await write(FIRST, 'CREATE TABLE first (n int);\nINSERT INTO first VALUES (1);\n ');
    await write('20300103000000_third_laid', 'CREATE TABLE third ();');
    await expect(migrate()).rejects.toThrow(MigrationMismatch);
    await expect(migrate()).rejects.toThrow(`migration ${FIRST} was changed after it was applied`);
    expect(await query(`SELECT to_regclass('third') AS third`)).toEqual([{ third: null }]);
  });

  it('is refused when an applied migration is unknown', async () => {
    await migrate();
    await rm(join(directory, SECOND), { recursive: true });
    await expect(migrate()).rejects.toThrow(MigrationMismatch);
    await expect(migrate()).rejects.toThrow(`the database has migration ${SECOND}, which this release lacks`);
  });

  it('is refused when a migration was begun by another tool and not finished', async () => {
    await migrate();
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, 'x', '20300103000000_third_laid')`,
      [randomUUID()],
    );
    await write('20300103000000_third_laid', 'CREATE TABLE third ();');
    await expect(migrate()).rejects.toThrow(MigrationMismatch);
  });

  it('is not started again in another schema when the search path of the role has changed', async () => {
    await write(SECOND, 'CREATE TABLE event_eras ();');
    await migrate();
    const url = new URL(databaseUrl);
    url.searchParams.set('options', '-c search_path=other');
    await client.query('CREATE SCHEMA other');
    const sentence =
      'the tables are in the schema public, which the search_path of this role (other) does not name';
    for (const look of [runMigrations, findUnapplied, examineMigrations])
      await expect(look(url.href, directory)).rejects.toThrow(sentence);
    expect(await query("SELECT FROM pg_class WHERE relnamespace = 'other'::regnamespace")).toEqual([]);
    await client.query('DROP SCHEMA other');
  });
});
