import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sleep, uuidOf } from '@posthorn/kernel';
import { createTestDatabase, type TestDatabase } from '@posthorn/testing';
import { Office, scheduledEmail } from '../office.fixture.ts';
import { transactOn } from '../transaction.ts';
import { ErasureStore } from './erasure-store.ts';

let testDatabase: TestDatabase;
let office: Office;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  office = new Office(testDatabase.url);
});
afterAll(async () => {
  await office.close();
  await testDatabase.drop();
});

describe('Erasing a person', () => {
  it('locks what workspaces have used in the order of accepting, whatever the order of the emails', async () => {
    const workspaces = [await office.openWorkspace(), await office.openWorkspace()].toSorted();
    const [first, last] = [workspaces[0]!, workspaces[1]!];
    const tomorrow = new Date(Date.now() + 86_400_000);
    for (const workspaceId of [last, first]) await office.accept([scheduledEmail(workspaceId, tomorrow)]);
    const lockUsage = 'SELECT FROM usage WHERE workspace_id = $1 FOR NO KEY UPDATE';

    const erasing = await transactOn(office.database, async (client) => {
      await client.query(lockUsage, [uuidOf(first)]);
      const removal = new ErasureStore(office.database)
        .removeEmails({ address: 'ada@example.net', workspaceId: null })
        .catch((error: unknown) => error);
      await somebodyWaits();
      await client.query(lockUsage, [uuidOf(last)]);
      return { removal };
    });
    expect(await erasing.removal).toMatchObject({ rows: { deleted: { emails: 2 }, takenBack: 2 } });
  });
});

async function somebodyWaits(): Promise<void> {
  const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  while ((await office.ask(waiting)).length === 0) await sleep(5);
}
