import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { operator } from '@posthorn/domain';
import { createTestDatabase, type TestDatabase } from '@posthorn/testing';
import { Office } from './office.fixture.ts';
import { WorkspaceStore } from './stores/workspace-store.ts';

const TESTS = operator('tests');
const WAITING = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;

let testDatabase: TestDatabase;
let office: Office;
let aside: Office;
let acme: WorkspaceId;
let globex: WorkspaceId;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  office = new Office(testDatabase.url, 4);
  aside = new Office(testDatabase.url, 2);
  acme = await office.openWorkspace();
  globex = await office.openWorkspace();
});
afterAll(async () => {
  await office.close();
  await aside.close();
  await testDatabase.drop();
});

const change = (workspaceId: WorkspaceId, ratePerSecond: number) =>
  new WorkspaceStore(office.database).changeLimits(workspaceId, TESTS, { ratePerSecond });

/** Holds a workspace as a change of another process does, until the work is done. */
async function whileHeld(workspaceId: WorkspaceId, work: () => Promise<void>): Promise<void> {
  const holder = await aside.database.pool.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM workspaces WHERE id = $1 FOR NO KEY UPDATE', [uuidOf(workspaceId)]);
  try {
    await work();
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
}

async function waiting(): Promise<number> {
  return (await aside.database.pool.query(WAITING)).rowCount ?? 0;
}

describe('Changes of a workspace', () => {
  it('wait with two connections, however many they are, and leave the others to everybody else', async () => {
    const changes: Promise<unknown>[] = [];
    await whileHeld(acme, async () => {
      for (let n = 1; n <= 40; n += 1) changes.push(change(acme, n).catch((error: unknown) => error));
      while ((await waiting()) < 2);
      expect(await change(globex, 7)).toMatchObject({ ratePerSecond: 7 });
      expect(await office.acceptEmails(globex, 1)).toHaveLength(1);
      expect(await waiting()).toBeLessThanOrEqual(2);
    });
    await Promise.all(changes);
    expect(await change(acme, 99)).toMatchObject({ ratePerSecond: 99 });
  });

  it('are refused when too many wait already, with nothing done', async () => {
    const changes: Promise<unknown>[] = [];
    await whileHeld(acme, async () => {
      for (let n = 1; n <= 203; n += 1) changes.push(change(acme, n).catch((error: unknown) => error));
      expect(await changes.at(-1)).toMatchObject({
        statusCode: 503,
        message: expect.stringContaining('Too many changes of this workspace'),
      });
    });
    await Promise.all(changes);
  });
});
