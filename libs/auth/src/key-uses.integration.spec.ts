import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  ApiKeyStore,
  type Database,
  waitForDatabase,
  openDatabase,
  WorkspaceStore,
} from '@posthorn/database';
import { operator, POSTHORN } from '@posthorn/domain';
import type { ApiKeyId, WorkspaceId } from '@posthorn/kernel';
import { createTestDatabase, FaultProxy, type TestDatabase } from '@posthorn/testing';
import { KeyUses } from './key-uses.ts';

let testDatabase: TestDatabase;
let proxy: FaultProxy;
let database: Database;
let apiKeys: ApiKeyStore;
let workspaceId: WorkspaceId;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  proxy = await FaultProxy.before(testDatabase.url);
  database = openDatabase({ url: proxy.urlFor(testDatabase.url), poolSize: 2, applicationName: 'test' });
  await waitForDatabase(database);
  apiKeys = new ApiKeyStore(database);
  workspaceId = (await new WorkspaceStore(database).create(POSTHORN, 'Acme', null)).id;
});
afterAll(async () => {
  await database.close();
  await proxy.close();
  await testDatabase.drop();
});

async function newKey(): Promise<ApiKeyId> {
  const secretHash = Buffer.from(crypto.randomUUID().replaceAll('-', '').repeat(2), 'hex');
  const key = { displayName: 'Key', role: 'VIEWER', secretHash, secretHint: 'phk_1234...5678' } as const;
  return (await apiKeys.create(workspaceId, operator('test'), key))!.id;
}

async function lastUsedAt(id: ApiKeyId): Promise<Date | null> {
  return (await apiKeys.list(workspaceId)).find((key) => key.id === id)!.lastUsedAt;
}

it('the last use of a key is buffered in memory, and written by a flush', async () => {
  const uses = new KeyUses({ apiKeys, clock: database.clock, onError: () => undefined });
  const id = await newKey();
  for (let n = 0; n < 1_000; n += 1) uses.note(id);
  expect(await lastUsedAt(id)).toBeNull();
  await uses.flush();
  expect(Math.abs((await lastUsedAt(id))!.getTime() - database.clock.nowMs())).toBeLessThan(60_000);
  await uses.close();
});

it('the last use of a key survives an outage of the database, which is only logged', async () => {
  const errors: unknown[] = [];
  const uses = new KeyUses({ apiKeys, clock: database.clock, onError: (error) => errors.push(error) });
  const [early, late] = [await newKey(), await newKey()];
  uses.note(early);
  await proxy.refuse();
  await uses.flush();
  uses.note(late);
  await uses.flush();
  expect(errors).toHaveLength(2);
  await proxy.heal();
  await uses.close();
  expect(errors).toHaveLength(2);
  expect([await lastUsedAt(early), await lastUsedAt(late)]).toEqual([expect.any(Date), expect.any(Date)]);
});
