import { createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestDatabase,
  FaultProxy,
  listenOnLoopback,
  PATIENT_LIMITS,
  TestAuthority,
  type TestDatabase,
} from '@posthorn/testing';
import { sleep } from '@posthorn/kernel';
import type pg from 'pg';
import { checkDatabase, type Database, waitForDatabase, openDatabase } from './connection.ts';
import { PoolerRefused } from './pooler.ts';
import { ExaminedDatabase } from '../examined-database.ts';
import { faultOf, isOutage } from '../faults/faults.ts';
import { findUnapplied, runMigrations } from '../migrations/run-migrations.ts';
import { startPoolerWithout } from './pooler.fixture.ts';
import { TestStores, rawEmail } from '../test-stores.fixture.ts';
import { transact } from '../transactions/transaction.ts';

const HOUR_MS = 3_600_000;
const MIGRATIONS = fileURLToPath(new URL('../../../../prisma/migrations', import.meta.url));
/** Longer than the time limit for an answer. */
const STANDSTILL_MS = 6_500;

let testDatabase: TestDatabase;
let proxy: FaultProxy;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  proxy = await FaultProxy.before(testDatabase.url);
  database = openDatabase({ url: proxy.urlFor(testDatabase.url), poolSize: 1, applicationName: 'test' });
  await waitForDatabase(database);
});
afterAll(async () => {
  await database.close();
  await proxy.close();
  await testDatabase.drop();
});

async function offsetMs(): Promise<number> {
  const { rows } = await database.pool.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  return Math.abs(database.clock.nowMs() - rows[0]!.now.getTime());
}

/** The URL of the database with these parameters only. */
function urlWith(search: string): string {
  return Object.assign(new URL(testDatabase.url), { search }).href;
}

it('keeps idle connections although the database ends those of others', async () => {
  const name = new URL(testDatabase.url).pathname.slice(1);
  await database.pool.query(`ALTER DATABASE "${name}" SET idle_session_timeout = '100ms'`);
  const ended: Error[] = [];
  const onIdleError = (error: Error): unknown => ended.push(error);
  const idle = openDatabase({ url: testDatabase.url, poolSize: 1, applicationName: 'test', onIdleError });
  await waitForDatabase(idle);
  await sleep(500);
  await idle.pool.query('SELECT 1');
  await idle.close();
  await database.pool.query(`ALTER DATABASE "${name}" RESET idle_session_timeout`);
  expect(ended).toEqual([]);
});

it('ends no transaction of ours although the database ends long ones of others', async () => {
  const known = await database.pool.query(`SELECT FROM pg_settings WHERE name = 'transaction_timeout'`);
  if (known.rows.length === 0) return;
  // Longer than the setup of a connection takes on a busy machine, which it covers until that has turned it off.
  const url = urlWith('options=-c%20transaction_timeout%3D1000');
  const own = openDatabase({ url, poolSize: 1, applicationName: 'test' });
  // A connection whose setup takes longer all the same is opened again.
  await waitForDatabase(own);
  await own.pool.query('BEGIN; SELECT pg_sleep(1.5); COMMIT');
  await own.close();
});

describe('Waiting for the database at the start', () => {
  it('refuses a database whose connections lose their startup parameters, as behind a pooler', async () => {
    const pooler = await startPoolerWithout('lock_timeout', testDatabase.url);
    const pooled = openDatabase({ url: pooler.url, poolSize: 1, applicationName: 'test' });
    await expect(waitForDatabase(pooled)).rejects.toThrow(PoolerRefused);
    await pooled.close();
    pooler.close();
  });

  it.each([
    ['schema', 'shop', 'whatever this says: leave it out'],
    ['statement_timeout', '0', 'Posthorn sets its own timeouts'],
    ['lock_timeout', '5000', 'Posthorn sets its own timeouts'],
    ['idle_in_transaction_session_timeout', '0', 'Posthorn sets its own timeouts'],
    ['query_timeout', '1', 'Posthorn sets its own timeouts'],
  ])('refuses a URL with %s, as migrating does, and says why', async (name, value, why) => {
    const url = urlWith(`${name}=${value}`);
    const told = new RegExp(`^DATABASE_URL contains ${name}=…: .*${why}`);
    expect(() => openDatabase({ url, poolSize: 1, applicationName: 'test' })).toThrow(told);
    await expect(findUnapplied(url, MIGRATIONS)).rejects.toThrow(told);
    await expect(runMigrations(url, MIGRATIONS)).rejects.toThrow(told);
  });

  it.each(['schema=public', 'application_name=shop', 'connect_timeout=10&target_session_attrs=read-write'])(
    'takes a URL with %s',
    async (query) => {
      const url = urlWith(query);
      const taken = openDatabase({ url, poolSize: 1, applicationName: 'test' });
      await waitForDatabase(taken);
      await taken.close();
      expect(await findUnapplied(url, MIGRATIONS)).toEqual([]);
    },
  );

  it.each([
    ['a server without TLS', 'sslmode=verify-full', /speaks no TLS there/],
    ['a file of certificates that is missing', 'sslrootcert=/nowhere/ca.crt', /file that DATABASE_URL names/],
    ['options that it does not take', 'options=-c%20posthorn%3D1', /does not take the options/],
  ])('says at once what to do about %s', async (_what, query, sentence) => {
    const url = urlWith(query);
    const refused = openDatabase({ url, poolSize: 1, applicationName: 'test', limits: PATIENT_LIMITS });
    const told: unknown[] = [];
    await expect(waitForDatabase(refused, (error) => told.push(error))).rejects.toThrow(sentence);
    await refused.close();
    expect(told).toEqual([]);
    await expect(findUnapplied(url, MIGRATIONS)).rejects.toThrow(sentence);
  });

  it.each(['verify-full', 'require'])(
    'says at once what to do about a certificate that is not trusted, with sslmode=%s',
    async (mode) => {
      const authority = TestAuthority.create();
      const certified = authority.issue({ names: ['DNS:db.example'] });
      const server = createServer((socket) =>
        socket.once('data', () => {
          socket.write('S');
          new TLSSocket(socket, { isServer: true, ...certified }).on('error', () => undefined);
        }),
      );
      const url = `postgresql://ada@127.0.0.1:${await listenOnLoopback(server)}/x?sslmode=${mode}`;
      const refused = openDatabase({ url, poolSize: 1, applicationName: 'test' });
      await expect(waitForDatabase(refused)).rejects.toThrow(
        /^The certificate of Postgres is not trusted: .* \(unable to verify/,
      );
      await refused.close();
      server.close();
      authority.close();
    },
  );

  it('refuses a database that lacks the newest migration of this release, but takes one that has newer migrations', async () => {
    const { rows } = await database.pool.query<{ name: string }>(
      `UPDATE _prisma_migrations SET migration_name = '20991231000000_added_by_the_next_release'
       WHERE  migration_name = (SELECT max(migration_name) FROM _prisma_migrations)
       RETURNING (SELECT max(migration_name) FROM _prisma_migrations) AS name`,
    );
    await expect(waitForDatabase(database)).rejects.toThrow(
      `The database is not at the newest migration: run npm run migrate (${rows[0]!.name} is not applied)`,
    );
    await database.pool.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('earlier', '', $1, now())`,
      [rows[0]!.name],
    );
    await waitForDatabase(database);
  });

  it('recognises a pooler by its error message, at once', async () => {
    const pooler = createServer((socket) =>
      socket.once('data', () =>
        socket.end(serverError('08P01', 'unsupported startup parameter: lock_timeout')),
      ),
    );
    const url = `postgresql://ada@127.0.0.1:${await listenOnLoopback(pooler)}/x`;
    const pooled = openDatabase({ url, poolSize: 1, applicationName: 'test' });
    await expect(waitForDatabase(pooled)).rejects.toThrow(PoolerRefused);
    await pooled.close();
    pooler.close();
  });

  /** https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-ERRORRESPONSE */
  function serverError(code: string, message: string): Buffer {
    const fields = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(fields.length + 4);
    return Buffer.concat([Buffer.from('E'), length, fields]);
  }
});

describe('Checking the database', () => {
  it('corrects the clock of a process that had drifted from that of the database', async () => {
    // As after an hour of suspension, or years of a clock that is slightly slow.
    database.clock.observe(database.clock.nowMs() - HOUR_MS, performance.now());
    expect(await offsetMs()).toBeGreaterThan(HOUR_MS / 2);
    await checkDatabase(database);
    expect(await offsetMs()).toBeLessThan(HOUR_MS / 2);
  });

  it('fails while it cannot be reached', async () => {
    await proxy.refuse();
    const error: unknown = await checkDatabase(database).catch((thrown: unknown) => thrown);
    expect(isOutage(error)).toBe(true);
    await proxy.heal();
  });
});

describe('A connection', () => {
  const compressionOf = async (pool: pg.Pool): Promise<string> =>
    (await pool.query<{ setting: string }>("SELECT current_setting('default_toast_compression') AS setting"))
      .rows[0]!.setting;

  it('lets nothing last long: neither a statement, nor waiting for a lock, nor a transaction in which nothing is done', async () => {
    const { rows } = await database.pool.query<{ name: string; setting: string }>(
      `SELECT name, setting FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')`,
    );
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      statement_timeout: '5000',
      lock_timeout: '2000',
      idle_in_transaction_session_timeout: '5000',
    });
  });

  it('compresses long values with lz4, where the server supports it', async () => {
    const { rows } = await database.pool.query<{ can: boolean }>(
      "SELECT 'lz4' = ANY (enumvals) AS can FROM pg_settings WHERE name = 'default_toast_compression'",
    );
    expect(await compressionOf(database.pool)).toBe(rows[0]!.can ? 'lz4' : 'pglz');
  });

  it('keeps a compression that was set for the database', async () => {
    const { rows } = await database.pool.query<{ name: string }>('SELECT current_database() AS name');
    await database.pool.query(`ALTER DATABASE ${rows[0]!.name} SET default_toast_compression = pglz`);
    const other = openDatabase({ url: testDatabase.url, poolSize: 1, applicationName: 'test' });
    expect(await compressionOf(other.pool)).toBe('pglz');
    await other.close();
  });

  it('reads times, and counts days as 24 hours, whatever time zone and styles were set for the database', async () => {
    const { rows: chosen } = await database.pool.query<{ name: string }>('SELECT current_database() AS name');
    for (const choice of ["datestyle = 'SQL, DMY'", "timezone = 'America/New_York'"])
      await database.pool.query(`ALTER DATABASE ${chosen[0]!.name} SET ${choice}`);
    const other = openDatabase({ url: testDatabase.url, poolSize: 1, applicationName: 'test' });
    await waitForDatabase(other);
    // The clocks there were put back at 06:00 UTC.
    const sql = `SELECT '2026-11-02T05:00Z'::timestamptz - make_interval(days => 1) AS "dayBefore"`;
    const { rows } = await other.pool.query<{ dayBefore: Date }>(sql);
    expect(rows[0]!.dayBefore.toISOString()).toBe('2026-11-01T05:00:00.000Z');
    await other.close();
    const examined = new ExaminedDatabase(testDatabase.url);
    expect((await examined.eras.read()).now).toBeInstanceOf(Date);
    await examined.close();
  });

  it('makes partitions, and reads backslashes literally, whatever string syntax was set for the database', async () => {
    const url = new URL(testDatabase.url);
    url.searchParams.set('options', '-c standard_conforming_strings=off -c quote_all_identifiers=on');
    const other = openDatabase({ url: url.href, poolSize: 1, applicationName: 'test' });
    await waitForDatabase(other);
    const { rows } = await other.pool.query<{ backslash: string }>(
      String.raw`SELECT '\\' AS backslash, make_partitions(4)`,
    );
    expect(rows[0]!.backslash).toBe(String.raw`\\`);
    await other.close();
  });

  it('lets concurrent calls accept emails of one workspace, whatever isolation level was set for the database', async () => {
    const { rows } = await database.pool.query<{ name: string }>('SELECT current_database() AS name');
    const chosen = `ALTER DATABASE ${rows[0]!.name} SET default_transaction_isolation`;
    await database.pool.query(`${chosen} = 'serializable'`);
    const stores = new TestStores(testDatabase.url);
    const workspaceId = await stores.openWorkspace();
    const accepting = Array.from({ length: 16 }, () => stores.accept([rawEmail(workspaceId)]));
    const failed = (await Promise.allSettled(accepting)).filter(({ status }) => status === 'rejected');
    await database.pool.query(`${chosen} = 'read committed'`);
    await stores.close();
    expect(failed).toEqual([]);
  });

  it('is replaced when it was opened while the database was set read-only: that would last as long as the connection', async () => {
    const name = new URL(testDatabase.url).pathname.slice(1);
    const setReadOnly = (value: 'on' | 'off'): Promise<unknown> =>
      database.pool.query(
        `BEGIN READ WRITE; ALTER DATABASE "${name}" SET default_transaction_read_only = ${value}; COMMIT`,
      );
    await setReadOnly('on');
    const other = openDatabase({ url: testDatabase.url, poolSize: 1, applicationName: 'test' });
    await waitForDatabase(other);
    const write = (): Promise<unknown> =>
      transact(other, (transaction) => transaction.$executeRaw`UPDATE workspaces SET name = name`);
    const refused: unknown = await write().catch((error: unknown) => error);
    await setReadOnly('off');
    expect(faultOf(refused)).toBe('unavailable');
    await write();
    await other.close();
  });

  it('accepts an answer that arrived while the whole process was suspended', async () => {
    const direct = openDatabase({ url: testDatabase.url, poolSize: 1, applicationName: 'test' });
    await waitForDatabase(direct);
    const asked = direct.pool.query('SELECT pg_sleep(0.2)');
    await nextTurn();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STANDSTILL_MS);
    expect((await asked).rows).toHaveLength(1);
    await direct.close();
  });
});
