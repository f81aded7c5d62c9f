import { beforeEach, expect, it } from '@jest/globals';
import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import { POSTHORN } from '@posthorn/domain';
import {
  ContactChanges,
  ContactStore,
  type ContactUpsert,
  faultOf,
  WorkspaceStore,
} from '@posthorn/database';
import { SaveContacts } from './save-contacts.ts';
import { openTestDatabase } from '../open-test-database.fixture.ts';
import { watchConnections } from '../watch-connections.fixture.ts';
import { workspaceBeside } from '../workspace-beside.fixture.ts';

const database = await openTestDatabase(6);
let acme: WorkspaceId;

beforeEach(async () => {
  acme = (await new WorkspaceStore(database).create(POSTHORN, 'Acme', null)).id;
});

/** A store that records how many upserts each of its transactions had. */
class CountingStore extends ContactStore {
  readonly groups: number[] = [];

  override upsert(upserts: readonly ContactUpsert[], lockTimeoutMs?: number) {
    this.groups.push(upserts.length);
    return super.upsert(upserts, lockTimeoutMs);
  }
}

function managed(contacts = new ContactStore(database)): SaveContacts {
  return new SaveContacts({ contacts, changes: new ContactChanges(database) });
}

const wanted = (n: number) => ({ email: `person${n}@example.net`, properties: { n } });
const wantedBatch = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => wanted(from + n));

it('concurrent calls share one transaction, of at most 500 contacts, and each gets its own', async () => {
  const store = new CountingStore(database);
  const manage = managed(store);
  const batch = (from: number, count: number) => manage.upsertAll(acme, wantedBatch(from, count));
  const single = Promise.all(Array.from({ length: 100 }, (_, n) => manage.upsert(acme, wanted(n))));
  const batches = Promise.all([batch(100, 400), batch(500, 500)]);
  await manage.upsert(acme, wanted(0));
  expect(store.groups).toEqual([500, 500, 1]);
  const answered = [...(await single).map(({ contact }) => contact), ...(await batches).flat()];
  expect(answered.map((one) => !(one instanceof Refusal) && one.email)).toEqual(
    Array.from({ length: 1_000 }, (_, n) => wanted(n).email),
  );
});

it('a contact of another workspace does not wait for all the batches of one that imports a list', async () => {
  const neighbour = await workspaceBeside(database, acme);
  const store = new CountingStore(database);
  const manage = managed(store);
  await Promise.all([
    ...Array.from({ length: 4 }, (_, n) => manage.upsertAll(acme, wantedBatch(n * 500, 500))),
    manage.upsert(neighbour, wanted(0)),
  ]);
  expect(store.groups).toEqual([500, 1, 500, 500, 500]);
});

it('a locked contact fails its own calls, however many, and no other of the group', async () => {
  const manage = managed();
  await manage.upsert(acme, wanted(1));
  const holder = await database.pool.connect();
  await holder.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0`);
  await holder.query(`SELECT FROM contacts WHERE email = 'person1@example.net' FOR UPDATE`);
  const locked = Array.from({ length: 20 }, (_, n) => ({
    email: n === 0 ? 'PERSON1@example.net' : 'person1@example.net',
    properties: { n },
  }));
  const outcomes = await Promise.allSettled(
    [...locked, wanted(2), wanted(3)].map((one) => manage.upsert(acme, one)),
  );
  await holder.query('ROLLBACK');
  holder.release();
  const faults = outcomes.map((one) => (one.status === 'rejected' ? faultOf(one.reason) : one.status));
  expect(faults).toEqual([...locked.map(() => 'locked'), 'fulfilled', 'fulfilled']);
});

it('many locked contacts fail their own calls, and leave connections to everybody else', async () => {
  const manage = managed();
  const held = Array.from({ length: 40 }, (_, n) => wanted(n));
  await manage.upsertAll(acme, held);
  const holder = await database.pool.connect();
  await holder.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0`);
  await holder.query('SELECT FROM contacts FOR UPDATE');
  const connections = watchConnections(database);
  const outcomes = await Promise.allSettled([...held, wanted(40)].map((one) => manage.upsert(acme, one)));
  await holder.query('ROLLBACK');
  holder.release();
  const faults = outcomes.map((one) => (one.status === 'rejected' ? faultOf(one.reason) : one.status));
  expect(faults).toEqual([...held.map(() => 'locked'), 'fulfilled']);
  // That of the holder, and one.
  expect(connections.most).toBe(2);
});

it('an upsert returns whether the contact existed before, and is refused if it would become too large', async () => {
  const manage = managed();
  const ada = { email: 'ada@example.net', properties: { a: 'x'.repeat(40_000) } };
  expect(await manage.upsert(acme, ada)).toMatchObject({ isCreated: true });
  expect(await manage.upsert(acme, ada)).toMatchObject({ isCreated: false });
  const more = { email: 'ada@example.net', properties: { b: 'x'.repeat(40_000) } };
  await expect(manage.upsert(acme, more)).rejects.toMatchObject({
    statusCode: 400,
    message: expect.stringContaining(
      '`properties` would have 80,015 bytes together with what the contact has already, and 65,536 are allowed',
    ),
  });
  const bob = { email: 'bob@example.net', properties: {} };
  expect(await manage.upsertAll(acme, [more, bob])).toMatchObject([
    { statusCode: 400 },
    { email: 'bob@example.net' },
  ]);
});
