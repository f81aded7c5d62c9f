import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, FaultProxy, ProgramUnderTest, type TestDatabase } from '@posthorn/testing';
import { openDatabase } from '@posthorn/database';
import { subscribe } from './receiving.ts';
import { Stack, takesAll, until } from './stack.ts';

let testDatabase: TestDatabase;
/** A role that may connect, but owns nothing. */
const STRANGER = { username: 'stranger_of_migrations', password: 'stranger' };

/** The error output of a failing `npm run migrate`. */
function lastWords(change: Partial<URL>): Promise<string> {
  return lastWordsOf(Object.assign(new URL(testDatabase.url), change).href);
}

async function lastWordsOf(databaseUrl: string): Promise<string> {
  const migrate = await ProgramUnderTest.start('tools/migrate.mjs', { env: { DATABASE_URL: databaseUrl } });
  expect((await migrate.exit).code).toBe(1);
  return migrate.output;
}

async function ask(sql: string): Promise<void> {
  const database = openDatabase({ url: testDatabase.url, poolSize: 1, applicationName: 'test' });
  await database.pool.query(sql).finally(() => database.close());
}

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  await ask(`CREATE ROLE ${STRANGER.username} LOGIN PASSWORD '${STRANGER.password}'`);
});
afterAll(async () => {
  await ask(`DROP ROLE ${STRANGER.username}`);
  await testDatabase.drop();
});

describe('A migration that waits', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('exits on %s, and says by its exit code that it has not finished', async (signal, code) => {
    const migrate = await ProgramUnderTest.start('tools/migrate.mjs', {
      args: ['--wait'],
      env: { DATABASE_URL: 'postgresql://ada@127.0.0.1:1/posthorn' },
    });
    await migrate.waitForOutput('ECONNREFUSED');
    migrate.kill(signal);
    expect(await migrate.exit).toEqual({ code, signal: null });
  });
});

describe('A migration that has to wait prints what it waits for', () => {
  it('and continues when it can', async () => {
    const holder = openDatabase({ url: testDatabase.url, poolSize: 1, applicationName: 'another-release' });
    const client = await holder.pool.connect();
    await client.query('SELECT pg_advisory_lock(72707369)');
    const migrate = await ProgramUnderTest.start('tools/migrate.mjs', {
      env: { DATABASE_URL: testDatabase.url },
    });
    await migrate.waitForOutput(
      /^migrate: .* has waited for \d+ s for pid \d+ \(another-release, role \w+\), which is migrating$/m,
    );
    client.release(true);
    await holder.close();
    expect((await migrate.exit).code).toBe(0);
  });

  it('even if the database no longer answers', async () => {
    const holder = openDatabase({ url: testDatabase.url, poolSize: 1, applicationName: 'another-release' });
    const client = await holder.pool.connect();
    await client.query('SELECT pg_advisory_lock(72707369)');
    const proxy = await FaultProxy.before(testDatabase.url);
    const migrate = await ProgramUnderTest.start('tools/migrate.mjs', {
      env: { DATABASE_URL: proxy.urlFor(testDatabase.url) },
    });
    await migrate.waitForOutput(/another-release/);
    proxy.freeze();
    await migrate.waitForOutput(/ has waited for \d+ s, and the database does not answer$/m);
    await proxy.close();
    client.release(true);
    await holder.close();
    expect((await migrate.exit).code).toBe(1);
  });
});

describe('A migration that fails prints one line that says what to do', () => {
  it('about a refused login', async () => {
    expect(await lastWords({ password: 'another' })).toBe(
      'migrate: The database refuses the login: correct the name and password in DATABASE_URL\n',
    );
  });

  it('about a read-only server', async () => {
    expect(await lastWords({ search: '?options=-c%20default_transaction_read_only%3Don' })).toMatch(
      /^migrate: Postgres accepts no writes: .*\n$/,
    );
  });

  it.each([
    ['what is no URL', 'posthorn'],
    ['the URL of another server', 'redis://127.0.0.1:1'],
    ['a URL without a host, for which the driver would take this machine', 'postgresql:///posthorn'],
    ['a list of hosts', 'postgresql://ada@one:5432,two:5432/posthorn'],
    ['a slash in a password', 'postgresql://ada:pass/word@one:5432/posthorn'],
    [
      'a slash in a password that would begin with the port',
      'postgresql://127.0.0.1:1/word@one:5432/posthorn',
    ],
    ['a password that is percent-encoded in Latin-1', 'postgresql://ada:p%E4ss@one:5432/posthorn'],
  ])('about %s', async (_, url) => {
    expect(await lastWordsOf(url)).toMatch(
      /^migrate: The settings are not usable: DATABASE_URL has a value that is not allowed; .* has one host, which leads to the primary; user and password are percent-encoded\n$/,
    );
  });

  it('about a schema, which the driver would ignore', async () => {
    expect(await lastWords({ search: '?schema=shop' })).toMatch(
      /^migrate: DATABASE_URL contains schema=…: .*\n$/,
    );
  });

  it('about a role that may not create tables', async () => {
    expect(await lastWords(STRANGER)).toMatch(
      /^migrate: The role in DATABASE_URL lacks a privilege: .* the database belongs to \(permission denied for .*\)\n$/,
    );
  });

  it('about a role to which the tables do not belong, although it may create some', async () => {
    await ask(`GRANT ALL ON SCHEMA public TO ${STRANGER.username}`);
    await ask(`GRANT SELECT ON _prisma_migrations TO ${STRANGER.username}`);
    expect(await lastWords(STRANGER)).toMatch(
      /^migrate: The role in DATABASE_URL lacks a privilege: .* the database belongs to \(permission denied to set role .*\)\n$/,
    );
    await ask(`DROP OWNED BY ${STRANGER.username}`);
  });

  it('about a connection that is lost in a migration', async () => {
    await ask('DROP INDEX emails_scheduled_idx');
    await ask(`DELETE FROM _prisma_migrations WHERE migration_name = '20261127023000_scheduled_listed'`);
    const holder = openDatabase({ url: testDatabase.url, poolSize: 1, applicationName: 'backup' });
    const client = await holder.pool.connect();
    await client.query(
      'BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; LOCK TABLE emails IN ROW EXCLUSIVE MODE',
    );
    const migrate = await ProgramUnderTest.start('tools/migrate.mjs', {
      env: { DATABASE_URL: testDatabase.url },
    });
    await migrate.waitForOutput(/\(backup, role/);
    await ask(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'posthorn-migrate'`,
    );
    client.release(true);
    await holder.close();
    expect((await migrate.exit).code).toBe(1);
    expect(migrate.output).toMatch(
      /^migrate: migration 20261127023000_scheduled_listed failed: The connection to the database was lost: .*$/m,
    );
    const again = await ProgramUnderTest.start('tools/migrate.mjs', {
      env: { DATABASE_URL: testDatabase.url },
    });
    expect(await again.exit).toMatchObject({ code: 0 });
    expect(again.output).toBe('applied 20261127023000_scheduled_listed\n');
  });

  it('about a server that accepts the connection and never answers', async () => {
    const proxy = await FaultProxy.before(testDatabase.url);
    proxy.freeze();
    expect(await lastWordsOf(proxy.urlFor(testDatabase.url))).toMatch(
      /^migrate: Nothing answers there: .*\n$/,
    );
    await proxy.close();
  });

  it('about a changed migration history', async () => {
    await ask(
      `UPDATE _prisma_migrations SET checksum = 'x' WHERE migration_name = '20261121100000_ground_floor_laid'`,
    );
    expect(await lastWords({})).toMatch(/^migrate: .*20261121100000_ground_floor_laid.*\n$/);
  });
});

describe('Beside the migrations of the next release', () => {
  const BETWEEN_CALLS_MS = 50;
  const TABLES = `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
    AND relnamespace = 'public'::regnamespace AND relname <> '_prisma_migrations' ORDER BY relname`;

  const stack = Stack.forTests({ receives: takesAll });

  it('apps of this release go on while each table gets another column, and start again afterwards', async () => {
    await subscribe(stack, stack.receiver.url('/hook'), { events: ['EMAIL_SENT', 'CONTACT_CREATED'] });
    const answers: number[] = [];
    const sendOne = async (): Promise<void> => {
      const to = `${answers.length}@receiver.example`;
      answers.push((await stack.send({ to, contactProperties: { n: answers.length } })).status);
    };
    const { rows: tables } = await stack.database.pool.query<{ name: string }>(TABLES);
    let isOver = false;
    const calling = (async () => {
      for (; !isOver; await sleep(BETWEEN_CALLS_MS)) await sendOne();
    })();
    await until(() => stack.receiver.posts.length > 10, 'every statement of sending is prepared');
    for (const { name } of tables)
      await stack.database.pool.query(
        `BEGIN; SET LOCAL lock_timeout = 0; ALTER TABLE ${name} ADD COLUMN added_by_the_next_release integer NOT NULL DEFAULT 0; COMMIT`,
      );
    await stack.database.pool.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('next', '', '20991231000000_next', now())`,
    );
    isOver = true;
    await calling;
    for (const name of ['gateway', 'sender'] as const) await stack.startApp(name);
    await sendOne();
    await stack.settled();

    expect(tables.length).toBeGreaterThan(20);
    expect(new Set(answers)).toEqual(new Set([200]));
    expect(stack.sink.messages).toHaveLength(answers.length);
    await until(() => stack.receiver.posts.length >= 2 * answers.length, 'each event is posted');
    expect(stack.logs).not.toMatch(/cached plan|violates|does not exist/);
  });
});
