import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, FaultProxy, type TestDatabase } from '@posthorn/testing';
import type pg from 'pg';
import { checkDatabase, type Database, greetDatabase, openDatabase } from './connection.ts';
import { isOutage } from './faults.ts';

const HOUR_MS = 3_600_000;

let testDatabase: TestDatabase;
let proxy: FaultProxy;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  proxy = await FaultProxy.before(testDatabase.url);
  database = openDatabase({ url: proxy.urlFor(testDatabase.url), poolSize: 1, applicationName: 'test' });
  await greetDatabase(database);
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

describe('Checking the database', () => {
  it('brings a process back to its time, of which it had strayed', async () => {
    // As after an hour's sleep of its machine, or years of a clock that is a little slow.
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

  it('compresses what is long by lz4, where the server can', async () => {
    const { rows } = await database.pool.query<{ can: boolean }>(
      "SELECT 'lz4' = ANY (enumvals) AS can FROM pg_settings WHERE name = 'default_toast_compression'",
    );
    expect(await compressionOf(database.pool)).toBe(rows[0]!.can ? 'lz4' : 'pglz');
  });

  it('leaves a compression that was chosen for the database', async () => {
    const { rows } = await database.pool.query<{ name: string }>('SELECT current_database() AS name');
    await database.pool.query(`ALTER DATABASE ${rows[0]!.name} SET default_toast_compression = pglz`);
    const other = openDatabase({ url: testDatabase.url, poolSize: 1, applicationName: 'test' });
    expect(await compressionOf(other.pool)).toBe('pglz');
    await other.close();
  });
});
