import { beforeEach, expect, it } from '@jest/globals';
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
import { ServeErasures } from '../erasures/serve-erasures.ts';
import { openTestDatabase } from '../open-test-database.fixture.ts';

const ADA = 'ada@example.com';

const database = await openTestDatabase();
const workspaces = new WorkspaceStore(database);
let shop: WorkspaceId;

beforeEach(async () => {
  shop = await openShop();
});

const openShop = async (): Promise<WorkspaceId> =>
  (await createWorkspace(workspaces, operator('test'), 'The shop', null)).id;

const addContact = (email: string, note = '', workspaceId = shop): Promise<unknown> =>
  database.pool.query('INSERT INTO contacts (id, workspace_id, email, properties) VALUES ($1, $2, $3, $4)', [
    ...[newUuid(Date.now()), uuidOf(workspaceId), email, JSON.stringify({ note })],
  ]);

const erase = (
  erasures = new ErasureStore(database),
  workspaceId: WorkspaceId | null = null,
  onProgress?: (rows: number) => void,
): ReturnType<typeof eraseRecipient> => {
  const order = { address: ADA, workspaceId, suppress: false };
  return eraseRecipient({ workspaces, erasures }, operator('test'), order, onProgress);
};

/** What the audit log has of it; sorted, since entries of the same millisecond are in no order. */
async function recorded(workspaceId = shop): Promise<object[]> {
  const page = { limit: 10, sort: 'createdAt.asc' } as const;
  const { items } = await new AuditLogStore(database).list(workspaceId, page, { action: 'recipient.erased' });
  const texts = items.map(({ detail }) => JSON.stringify(detail)).sort();
  return texts.map((text) => JSON.parse(text) as object);
}

const completed = (counts: object = {}): object => ({
  completed: true,
  deleted: 0,
  redacted: 0,
  cancelled: 0,
  ...counts,
});

async function schedule(to: string, count: number): Promise<void> {
  await addIdentity(new IdentityStore(database), shop, operator('test'), {
    domain: 'example.com',
    verified: true,
  });
  await scheduleEmails(database, {
    workspaceId: shop,
    laneId: bulkLane(shop),
    dueInMs: 86_400_000,
    count,
    to,
  });
}

it('A run over all workspaces adds up what it did, and is in the logs of those that had the person, with their own counts', async () => {
  const other = await openShop();
  const without = await openShop();
  await addContact(ADA);
  await addContact('bo@example.com', `Friend of\n${ADA}`);
  await addContact(ADA, '', other);
  expect(await erase()).toMatchObject({ deleted: { contacts: 2 }, redacted: { contacts: 1 } });
  expect(await recorded()).toEqual([completed({ deleted: 1, redacted: 1 })]);
  expect(await recorded(other)).toEqual([completed({ deleted: 1 })]);
  expect(await recorded(without)).toEqual([]);
});

it('A run that has failed is gone on with by a scheduler, or by the next run, whose receipt has the counts of both', async () => {
  await addContact(ADA);
  await addContact('bo@example.com', `Friend of\n${ADA}`);
  await database.pool.query(
    'ALTER TABLE contacts ADD CONSTRAINT unchanged CHECK (properties::text LIKE $$%@%$$) NOT VALID',
  );
  await expect(erase()).rejects.toMatchObject({ code: '23514' });
  await database.pool.query('ALTER TABLE contacts DROP CONSTRAINT unchanged');
  await database.pool.query('UPDATE erasures SET next_at = now()');
  expect(await erase()).toMatchObject({ deleted: { contacts: 1 }, redacted: { contacts: 1 } });
  expect(await recorded()).toEqual([completed({ deleted: 1, redacted: 1 })]);
});

it('A run that cannot be recorded in the audit log of a workspace is not completed there', async () => {
  await schedule(ADA, 2);
  await database.pool.query(
    `ALTER TABLE audit_log ADD CONSTRAINT unrecorded CHECK (action <> 'recipient.erased') NOT VALID`,
  );
  await expect(erase()).rejects.toMatchObject({ code: '23514' });
  await database.pool.query('ALTER TABLE audit_log DROP CONSTRAINT unrecorded');
  await database.pool.query('UPDATE erasures SET next_at = now()');
  expect(await erase()).toMatchObject({ cancelled: 2, deleted: { emails: 2 } });
  expect(await recorded()).toMatchObject([{ cancelled: 2 }]);
});

it('A run is completed although a workspace with the person is deleted meanwhile, before or after it was begun there', async () => {
  const gone = [await openShop(), await openShop()];
  for (const workspaceId of [shop, ...gone]) await addContact(ADA, '', workspaceId);
  const close = (id: WorkspaceId): Promise<unknown> =>
    deleteWorkspace(new WorkspaceDeletionStore(database), { id, name: 'The shop' }, operator('test'), {
      name: 'The shop',
    });
  class Deleting extends ErasureStore {
    override async begin(...asked: Parameters<ErasureStore['begin']>) {
      if (asked[0] === gone[0]) await close(gone[0]);
      return super.begin(...asked);
    }
    override async findAll(...asked: Parameters<ErasureStore['findAll']>) {
      if (gone[1] !== undefined) await close(gone.pop()!);
      return super.findAll(...asked);
    }
  }
  await erase(new Deleting(database));
  expect(await recorded()).toEqual([completed({ deleted: 1 })]);
});

it('A run is in the audit log of a workspace that has had only a verification link sent to the person', async () => {
  await database.pool.query(
    `INSERT INTO verification_links (id, identity_id, workspace_id, token_hash, address_hash, created_at, expires_at)
     VALUES ($1, $1, $2, sha256('token'), sha256($3::text::bytea), now(), now() + interval '1 day')`,
    [newUuid(Date.now()), uuidOf(shop), ADA],
  );
  await erase();
  expect(await recorded()).toEqual([completed({ deleted: 1 })]);
});

it('A run in one workspace is in its audit log when it begins and when it is completed, also when it finds nothing there', async () => {
  await erase(undefined, shop);
  await addContact(ADA);
  await erase(undefined, shop);
  expect(await recorded()).toEqual([
    { begun: true },
    { begun: true },
    completed(),
    completed({ deleted: 1 }),
  ]);
});

it('A run in one workspace leaves others as they are', async () => {
  const other = await openShop();
  for (const workspaceId of [shop, other]) await addContact(ADA, '', workspaceId);
  expect(await erase(undefined, shop)).toMatchObject({ deleted: { contacts: 1 } });
  const left = await database.pool.query('SELECT workspace_id FROM contacts WHERE email = $1', [ADA]);
  expect(left.rows).toEqual([{ workspace_id: uuidOf(other) }]);
});

it('A run tells how many rows have been searched', async () => {
  await schedule('bo@example.com', 3);
  for (const name of ['ada', 'bo']) await addContact(`${name}@example.com`);
  const told: number[] = [];
  await erase(undefined, shop, (rows) => told.push(rows));
  expect(told).toEqual(told.toSorted((one, other) => one - other));
  // The emails are searched twice: first for those to the person, then for those that mention them.
  expect(told.at(-1)).toBeGreaterThanOrEqual(3 + 3 + 1);
});

it('A run shares its work with a scheduler, and everything is counted once', async () => {
  await schedule(ADA, 50);
  let isOver = false;
  const scheduler = async (): Promise<void> => {
    while (!isOver) await new ServeErasures(new ErasureStore(database)).runWithin(100);
  };
  const working = scheduler();
  expect(await erase()).toMatchObject({ cancelled: 50, deleted: { emails: 50 } });
  isOver = true;
  await working;
});

it('A receipt has the time of the database, whatever the clock of the operator says', async () => {
  const clock = new DatabaseClock();
  const aYearAgoMs = Date.now() - 365 * 86_400_000;
  clock.observe(aYearAgoMs, performance.now());
  const { erasedAt } = await erase(new ErasureStore({ ...database, clock }));
  expect(Math.abs(erasedAt.getTime() - aYearAgoMs)).toBeLessThan(3_600_000);
});

it('A receipt names the person by the SHA-256 of the address in lower case, however it was given', async () => {
  const order = { address: 'Nobody@EXAMPLE.com', workspaceId: null, suppress: false };
  const stores = { workspaces, erasures: new ErasureStore(database) };
  const { recipient } = await eraseRecipient(stores, operator('test'), order);
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
  expect(await erase(new Watched(database), shop)).toMatchObject({ deleted: {} });
  expect(confirmed).toBe(1);
});
