import { expect, it, jest } from '@jest/globals';
import { createHash } from 'node:crypto';
import {
  AuditLogStore,
  ErasureStore,
  IdentityStore,
  WorkspaceDeletionStore,
  WorkspaceStore,
} from '@posthorn/database';
import { bulkLane, operator } from '@posthorn/domain';
import { DatabaseClock, newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { addIdentity } from './add-identity.ts';
import { createWorkspace } from './create-workspace.ts';
import { deleteWorkspace } from './delete-workspace.ts';
import { eraseRecipient } from './erase-recipient.ts';
import { scheduleEmails } from './schedule-emails.fixture.ts';
import { openTestDatabase } from '../open-test-database.fixture.ts';

const database = await openTestDatabase();

const addContact = (workspaceId: WorkspaceId, email: string, note: string): Promise<unknown> =>
  database.pool.query('INSERT INTO contacts (id, workspace_id, email, properties) VALUES ($1, $2, $3, $4)', [
    ...[newUuid(Date.now()), uuidOf(workspaceId), email, JSON.stringify({ note })],
  ]);

const erase = (on = database, workspaceId: WorkspaceId | null = null): ReturnType<typeof eraseRecipient> =>
  eraseRecipient(new ErasureStore(on), operator('test'), {
    address: 'ada@example.com',
    workspaceId,
    suppress: false,
  });

/** What the audit log has of it; sorted, since entries of the same millisecond are in no order. */
async function recorded(workspaceId: WorkspaceId): Promise<object[]> {
  const page = { limit: 10, sort: 'createdAt.asc' } as const;
  const { items } = await new AuditLogStore(database).list(workspaceId, page, { action: 'recipient.erased' });
  const texts = items.map(({ detail }) => JSON.stringify(detail)).sort();
  return texts.map((text) => JSON.parse(text) as object);
}

it('An interrupted run is in the audit log of each workspace that it has changed, and a completed one without counts, which are of all workspaces', async () => {
  const { id } = await createWorkspace(new WorkspaceStore(database), operator('test'), 'The shop', null);
  await addContact(id, 'ada@example.com', 'herself');
  await addContact(id, 'bo@example.com', 'Friend of\nada@example.com');
  await database.pool.query(
    'ALTER TABLE contacts ADD CONSTRAINT unchanged CHECK (properties::text LIKE $$%@%$$) NOT VALID',
  );
  await expect(erase()).rejects.toMatchObject({ code: '23514' });
  expect(await recorded(id)).toEqual([{ begun: true }]);
  await database.pool.query('ALTER TABLE contacts DROP CONSTRAINT unchanged');
  await addContact(id, 'ada@example.com', 'there again');
  await erase();
  expect(await recorded(id)).toEqual([{ begun: true }, { begun: true }, { completed: true }]);
});

it('A run that cannot be recorded in the audit log of a workspace has changed nothing there, since the next one would find nothing', async () => {
  const { id } = await createWorkspace(new WorkspaceStore(database), operator('test'), 'The shop', null);
  await addContact(id, 'ada@example.com', 'herself');
  await database.pool.query(
    `ALTER TABLE audit_log ADD CONSTRAINT unrecorded CHECK (action <> 'recipient.erased') NOT VALID`,
  );
  await expect(erase()).rejects.toMatchObject({ code: '23514' });
  await database.pool.query('ALTER TABLE audit_log DROP CONSTRAINT unrecorded');
  await erase();
  expect(await recorded(id)).toEqual([{ begun: true }, { completed: true }]);
});

it('A run that cannot be recorded in the audit log of a workspace has cancelled no scheduled email there', async () => {
  const { id } = await createWorkspace(new WorkspaceStore(database), operator('test'), 'The shop', null);
  await addIdentity(new IdentityStore(database), id, operator('test'), {
    domain: 'example.com',
    verified: true,
  });
  const scheduled = { workspaceId: id, laneId: bulkLane(id), dueInMs: 86_400_000, count: 2 };
  const emails = await scheduleEmails(database, { ...scheduled, to: 'ada@example.com' });
  const statuses = async (): Promise<string[]> => {
    const asked = await database.pool.query<{ status: string }>(
      'SELECT status FROM emails WHERE id = ANY ($1)',
      [emails],
    );
    return asked.rows.map(({ status }) => status);
  };
  await database.pool.query(
    `ALTER TABLE audit_log ADD CONSTRAINT unrecorded CHECK (action <> 'recipient.erased') NOT VALID`,
  );
  await expect(erase()).rejects.toMatchObject({ code: '23514' });
  expect(await statuses()).toEqual(['SCHEDULED', 'SCHEDULED']);
  await database.pool.query('ALTER TABLE audit_log DROP CONSTRAINT unrecorded');
  expect(await erase()).toMatchObject({ cancelled: 2, deleted: { emails: 2 } });
  expect(await statuses()).toEqual([]);
  expect(await recorded(id)).toEqual([{ begun: true }, { completed: true }]);
});

it('A run is completed although a workspace with the person is deleted meanwhile', async () => {
  const workspaces = new WorkspaceStore(database);
  const { id } = await createWorkspace(workspaces, operator('test'), 'The shop', null);
  const gone = await createWorkspace(workspaces, operator('test'), 'The closed shop', null);
  for (const workspaceId of [id, gone.id]) await addContact(workspaceId, 'ada@example.com', 'herself');
  class Deleting extends ErasureStore {
    override async redactAnswers(...asked: Parameters<ErasureStore['redactAnswers']>) {
      const deletion = new WorkspaceDeletionStore(database);
      await deleteWorkspace(deletion, gone, operator('test'), { name: gone.name });
      return super.redactAnswers(...asked);
    }
  }
  const order = { address: 'ada@example.com', workspaceId: null, suppress: false };
  await eraseRecipient(new Deleting(database), operator('test'), order);
  expect(await recorded(id)).toEqual([{ begun: true }, { completed: true }]);
});

it('A run is in the audit log of a workspace that has had only a verification link sent to the person', async () => {
  const { id } = await createWorkspace(new WorkspaceStore(database), operator('test'), 'The shop', null);
  await database.pool.query(
    `INSERT INTO verification_links (id, identity_id, workspace_id, token_hash, address_hash, created_at, expires_at)
     VALUES ($1, $1, $2, sha256('token'), sha256('ada@example.com'), now(), now() + interval '1 day')`,
    [newUuid(Date.now()), uuidOf(id)],
  );
  await erase();
  expect(await recorded(id)).toEqual([{ begun: true }, { completed: true }]);
});

it('A run in one workspace is in its audit log once, with counts, also when it finds nothing there', async () => {
  const { id } = await createWorkspace(new WorkspaceStore(database), operator('test'), 'The shop', null);
  await erase(database, id);
  await addContact(id, 'ada@example.com', 'herself');
  await erase(database, id);
  expect(await recorded(id)).toEqual([
    { begun: true },
    { begun: true },
    { completed: true, deleted: 0, redacted: 0, cancelled: 0 },
    { completed: true, deleted: 1, redacted: 0, cancelled: 0 },
  ]);
});

it('A run tells how many rows it has searched, after each group', async () => {
  const { id } = await createWorkspace(new WorkspaceStore(database), operator('test'), 'The shop', null);
  await addIdentity(new IdentityStore(database), id, operator('test'), {
    domain: 'example.com',
    verified: true,
  });
  await scheduleEmails(database, { workspaceId: id, laneId: bulkLane(id), dueInMs: 86_400_000, count: 3 });
  for (const name of ['ada', 'bo']) await addContact(id, `${name}@example.com`, name);
  const told: number[] = [];
  const order = { address: 'ada@example.com', workspaceId: null, suppress: false };
  await eraseRecipient(new ErasureStore(database), operator('test'), order, (rows) => told.push(rows));
  // The emails are searched twice: first for those to the person, then for those that mention them.
  expect(told[0]).toBe(3);
  expect(told).toEqual(told.toSorted((one, other) => one - other));
  expect(told.at(-1)).toBeGreaterThanOrEqual(3 + 3 + 1);
});

it('A receipt has the time of the database, whatever the clock of the operator says', async () => {
  const clock = new DatabaseClock();
  const aYearAgoMs = Date.now() - 365 * 86_400_000;
  clock.observe(aYearAgoMs, performance.now());
  const { erasedAt } = await erase({ ...database, clock });
  expect(Math.abs(erasedAt.getTime() - aYearAgoMs)).toBeLessThan(3_600_000);
});

it('A receipt names the person by the SHA-256 of the address in lower case, however it was given', async () => {
  const order = { address: 'Nobody@EXAMPLE.com', workspaceId: null, suppress: false };
  const { recipient } = await eraseRecipient(new ErasureStore(database), operator('test'), order);
  expect(recipient).toBe(createHash('sha256').update('nobody@example.com').digest('hex'));
});

it('Even a run that finds nothing ends only when a failover brings back nothing that an earlier one has erased', async () => {
  let confirmed = 0;
  class Watched extends ErasureStore {
    override confirm(): Promise<void> {
      confirmed += 1;
      return super.confirm();
    }
  }
  const order = { address: 'nobody@example.com', workspaceId: null, suppress: false };
  expect(await eraseRecipient(new Watched(database), operator('test'), order)).toMatchObject({ deleted: {} });
  expect(confirmed).toBe(1);
});

it('What is being sent is waited for, however long the search for it took', async () => {
  const { id } = await createWorkspace(new WorkspaceStore(database), operator('test'), 'The shop', null);
  const email = newUuid(Date.now());
  await database.pool.query(
    `INSERT INTO emails (id, workspace_id, type, status, from_address, to_address, subject, message_id, track_clicks, track_opens, accepted_at, idempotency_keys)
     VALUES ($1, $2, 'raw', 'SENT', 'a@example.com', 'ada@example.com', 'x', 'm@example.com', false, false, now(), '{}')`,
    [email, uuidOf(id)],
  );
  await database.pool.query(
    `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at, lease_until)
     VALUES ($1, 'email', 'a_lane', 'taken', now(), now() + interval '1 minute')`,
    [email],
  );
  const start = performance.timeOrigin;
  const now = jest.spyOn(performance, 'now');
  class SlowSearch extends ErasureStore {
    override async removeEvents(...asked: Parameters<ErasureStore['removeEvents']>) {
      // The first pass ends a minute after it began; soon afterwards the email is sent.
      now.mockImplementation(() => Date.now() - start + 60_000);
      await database.pool.query('DELETE FROM outbox WHERE subject_id = $1', [email]);
      return super.removeEvents(...asked);
    }
  }
  const order = { address: 'ada@example.com', workspaceId: id, suppress: false };
  const { deleted, inProgress } = await eraseRecipient(new SlowSearch(database), operator('test'), order);
  now.mockRestore();
  expect({ emails: deleted['emails'], inProgress }).toEqual({ emails: 1, inProgress: 0 });
});
