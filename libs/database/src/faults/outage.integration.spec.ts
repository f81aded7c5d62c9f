import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId, sleep } from '@posthorn/kernel';
import { POSTHORN } from '@posthorn/domain';
import {
  createTestDatabase,
  FaultProxy,
  PATIENT_LIMITS,
  PrivatePostgres,
  type TestDatabase,
} from '@posthorn/testing';
import { type Database, waitForDatabase, openDatabase } from '../connection/connection.ts';
import { faultOf, isOutage } from './faults.ts';
import { ApiKeyStore } from '../stores/workspaces/api-key-store.ts';
import { EmailStore } from '../stores/emails/email-store.ts';
import { WorkspaceStore } from '../stores/workspaces/workspace-store.ts';
import { transact, transactOn } from '../transactions/transaction.ts';

let testDatabase: TestDatabase;
let proxy: FaultProxy;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  proxy = await FaultProxy.before(testDatabase.url);
  database = openDatabase({ url: proxy.urlFor(testDatabase.url), poolSize: 2, applicationName: 'test' });
});
afterAll(async () => {
  await database.close();
  await proxy.close();
  await testDatabase.drop();
});

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => new Error('it was answered'),
    (error: unknown) => error,
  );
}

/** Broken connections may stay in the pool for a moment. */
async function answered<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!isOutage(error) || tries === 20) throw error;
      await sleep(50);
    }
  }
}

const workspaceId = newId('wrk', Date.now());
const findEmail = () => new EmailStore(database).find(workspaceId, newId('trs', Date.now()));
const findHolders = () => new ApiKeyStore(database).findHolders([Buffer.alloc(32)]);

describe('A database that cannot be reached', () => {
  it.each([
    ['what Prisma asks', findEmail],
    ['a statement of ours', findHolders],
  ])('is an outage for %s, and over when it is back', async (_whose, ask) => {
    await proxy.refuse();
    expect(isOutage(await errorOf(ask()))).toBe(true);
    await proxy.heal();
    await answered<unknown>(ask);
  });

  it.each([
    ['what Prisma asks', findEmail],
    ['a statement of ours', findHolders],
  ])('is an outage for %s when the connection breaks during it', async (_whose, ask) => {
    await answered<unknown>(ask);
    // A prepared statement is sent by its name.
    const cut = proxy.cutBefore(/SELECT|find_key_holders/);
    const error = errorOf(ask());
    await cut;
    expect(isOutage(await error)).toBe(true);
  });

  it('is an outage when it says nothing any more, and the connections are given up', async () => {
    const inTransaction = () => transactOn(database, (client) => client.query('SELECT 1'));
    const ask = () => [findHolders(), inTransaction()];
    await answered(() => Promise.all(ask()));
    const before = database.pool.totalCount;
    proxy.freeze();
    const errors = await Promise.all(ask().map(errorOf));
    const kept = database.pool.totalCount;
    await proxy.heal();
    for (const error of errors) {
      expect(error).toMatchObject({ message: 'Query read timeout' });
      expect(isOutage(error)).toBe(true);
    }
    expect(kept).toBe(before - 2);
    await answered<unknown>(findHolders);
  });
});

describe('A server that refuses the login', () => {
  it.each([
    ['the password', { password: 'another' }],
    ['the database', { pathname: '/nowhere' }],
  ])(
    'with %s is an outage for running processes, and reported at once by starting ones',
    async (_by, change) => {
      const url = Object.assign(new URL(testDatabase.url), change).href;
      const refused = openDatabase({ url, poolSize: 1, applicationName: 'test', limits: PATIENT_LIMITS });
      const error = await errorOf(refused.pool.query('SELECT 1'));
      expect(isOutage(error)).toBe(true);
      expect(
        isOutage(await errorOf(new EmailStore(refused).find(workspaceId, newId('trs', Date.now())))),
      ).toBe(true);
      const waited: unknown[] = [];
      expect(await errorOf(waitForDatabase(refused, (why) => waited.push(why)))).toMatchObject({
        code: (error as { code: string }).code,
      });
      expect(waited).toEqual([]);
      await refused.close();
    },
  );
});

describe('A pool whose connections are all in use', () => {
  it('is an outage for what Prisma asks, for a transaction, and for a statement of ours', async () => {
    const asks = [
      findEmail,
      () => transact(database, (transaction) => transaction.workspace.count()),
      findHolders,
    ];
    const inUse = [
      await answered(() => database.pool.connect()),
      await answered(() => database.pool.connect()),
    ];
    const errors = await Promise.all(asks.map((ask) => errorOf(ask())));
    expect(errors.map(isOutage)).toEqual([true, true, true]);
    for (const client of inUse) client.release();
    for (const ask of asks) await answered<unknown>(ask);
  });
});

describe('A value that the database refuses', () => {
  it('is `data`, also through Prisma', async () => {
    const error = await errorOf(new WorkspaceStore(database).create(POSTHORN, '', null));
    expect(faultOf(error)).toBe('data');
  });
});

it('A standby is an outage, and its connections are closed: the host name may lead to the primary the next time', async () => {
  const postgres = await PrivatePostgres.start();
  const demoted = openDatabase({
    url: postgres.url,
    poolSize: 1,
    applicationName: 'test',
    limits: PATIENT_LIMITS,
  });
  await demoted.pool.query('SELECT 1');
  await postgres.demote();
  while (demoted.pool.totalCount > 0) await sleep(10);
  const asked = [demoted.pool.query('SELECT 1'), new EmailStore(demoted).find(workspaceId, newId('trs', 0))];
  for (const error of await Promise.all(asked.map(errorOf))) {
    expect(faultOf(error)).toBe('unavailable');
    expect(String(error)).toContain('DATABASE_URL');
  }
  expect(demoted.pool.totalCount).toBe(0);
  await demoted.close();
  await postgres.close();
});
