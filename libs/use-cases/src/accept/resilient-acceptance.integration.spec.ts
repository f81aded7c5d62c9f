import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  type AcceptableCall,
  AcceptanceStore,
  type Database,
  waitForDatabase,
  IdentityStore,
  openDatabase,
  WorkspaceStore,
} from '@posthorn/database';
import { POSTHORN } from '@posthorn/domain';
import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { createTestDatabase, type TestDatabase } from '@posthorn/testing';
import { ResilientAcceptance } from './resilient-acceptance.ts';
import { prepareRawEmail } from './prepare-email.ts';
import { rawDraft } from './raw-draft.fixture.ts';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = openDatabase({ url: testDatabase.url, poolSize: 6, applicationName: 'test' });
  await waitForDatabase(database);
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

async function openWorkspace(): Promise<WorkspaceId> {
  const { id } = await new WorkspaceStore(database).create('Group', null, POSTHORN);
  await new IdentityStore(database).put(id, 'domain', 'example.com', true, POSTHORN);
  return id;
}

function callFrom(workspaceId: WorkspaceId): AcceptableCall {
  const context = { workspaceId, clock: database.clock, isBulk: false };
  return { workspaceId, emails: [prepareRawEmail(rawDraft(), null, context)] };
}

it('emails of a workspace whose usage row is locked are answered 503, and fail no others of their group', async () => {
  const group = new ResilientAcceptance(new AcceptanceStore(database), null);
  const [held, free] = [await openWorkspace(), await openWorkspace()];
  const calls = [held, free, held].map(callFrom);
  await group.accept([callFrom(held)]);

  const holder = await database.pool.connect();
  // The group waits for it twice, for nearly as long as the idle timeout of the server.
  await holder.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = '30s'`);
  await holder.query('SELECT FROM usage WHERE workspace_id = $1 FOR UPDATE', [uuidOf(held)]);
  const outcomes = await group.accept(calls);
  await holder.query('ROLLBACK');
  holder.release();

  expect(outcomes.map(({ kind }) => kind)).toEqual(['failed', 'decided', 'failed']);
  expect(outcomes[0]).toMatchObject({ error: { statusCode: 503 } });
  const { rows } = await database.pool.query<{ count: number }>('SELECT count(*)::int FROM emails');
  expect(rows[0]!.count).toBe(2);
});

it('emails of a workspace with repeated conflicts fail no others of their group', async () => {
  const group = new ResilientAcceptance(new AcceptanceStore(database), null);
  const [crossed, free] = [await openWorkspace(), await openWorkspace()];
  await database.pool.query(
    `CREATE FUNCTION cross() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE deadlock_detected; END $$;
     CREATE TRIGGER crossed BEFORE INSERT ON usage FOR EACH ROW WHEN (NEW.workspace_id = '${uuidOf(crossed)}') EXECUTE FUNCTION cross()`,
  );
  const outcomes = await group.accept([crossed, free, crossed].map(callFrom));
  await database.pool.query('DROP TRIGGER crossed ON usage');
  expect(outcomes.map(({ kind }) => kind)).toEqual(['failed', 'decided', 'failed']);
  expect(outcomes[0]).toMatchObject({ error: { statusCode: 503 } });
});
