import { beforeEach, describe, expect, it } from '@jest/globals';
import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type JsonObject, parseJson } from '@posthorn/domain';
import type { LeadingStatement } from '../../connection/pipelined-query.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { type TransactionClient, transactOn } from '../../transactions/transaction.ts';
import { type ContactUpsert, type ContactWrite, upsertContacts } from './contact-writes.ts';

const stores = await openTestStores();
let acme: WorkspaceId;

beforeEach(async () => {
  acme = await stores.openWorkspace();
});

const inTransaction = <Result>(work: (client: TransactionClient) => Promise<Result>): Promise<Result> =>
  transactOn(stores.database, work);

const upserts = (...entries: [string, JsonObject][]): ContactUpsert[] =>
  entries.map(([email, properties]) => ({ workspaceId: acme, email, properties }));

const upsert = (...entries: [string, JsonObject][]): Promise<ContactWrite[]> =>
  inTransaction((client) => upsertContacts(client, Date.now(), upserts(...entries)));

const createdOf = (writes: ContactWrite[]): boolean[] => writes.map(({ isCreated }) => isCreated);

interface Kept {
  email: string;
  properties: JsonObject;
  isTouched: boolean;
}

async function keptContacts(): Promise<Kept[]> {
  const rows = await stores.ask<Omit<Kept, 'properties'> & { properties: string }>(
    `SELECT email, properties::text, updated_at > created_at AS "isTouched" FROM contacts
     WHERE workspace_id = $1 ORDER BY email`,
    [uuidOf(acme)],
  );
  return rows.map((row) => ({ ...row, properties: parseJson(row.properties) as JsonObject }));
}

interface Told {
  event: string;
  data: { contact: { email: string; properties: JsonObject }; changes?: JsonObject };
}

/** The events of the workspace, in the order of their contacts' addresses. */
async function toldEvents(): Promise<Told[]> {
  const rows = await stores.ask<{ payload: string }>(
    'SELECT payload FROM events WHERE workspace_id = $1 ORDER BY xid, id',
    [uuidOf(acme)],
  );
  const told = rows.map(({ payload }) => parseJson(payload) as Told);
  return told.sort((a, b) => a.data.contact.email.localeCompare(b.data.contact.email));
}

describe('Contacts of accepted emails', () => {
  it('S14, W11: a contact is created with its properties, and reported', async () => {
    const [write] = await upsert(['Ada@example.net', { firstName: 'Ada', age: 36 }]);
    expect(write).toMatchObject({
      isCreated: true,
      contact: { status: 'SUBSCRIBED', unsubscribedAt: null },
    });
    expect(await keptContacts()).toEqual([
      { email: 'Ada@example.net', properties: { firstName: 'Ada', age: 36 }, isTouched: false },
    ]);
    const { id, createdAt } = write!.contact;
    expect(await toldEvents()).toEqual([
      {
        event: 'CONTACT_CREATED',
        createdAt: expect.any(String),
        data: {
          contact: {
            id,
            email: 'Ada@example.net',
            workspaceId: acme,
            createdAt: createdAt.toISOString(),
            properties: { firstName: 'Ada', age: 36 },
          },
        },
      },
    ]);
  });

  it('S14, W11: an existing contact keeps properties that are not given; the event contains the changed keys', async () => {
    await upsert(['ada@example.net', { firstName: 'Ada', plan: 'free', city: 'London' }]);
    const writes = await upsert(['ADA@example.net', { plan: 'paid', city: null, age: 36 }]);
    expect(createdOf(writes)).toEqual([false]);
    const properties = { firstName: 'Ada', plan: 'paid', age: 36 };
    expect(writes[0]!.contact).toMatchObject({ email: 'ada@example.net', properties });
    expect(await keptContacts()).toEqual([{ email: 'ada@example.net', properties, isTouched: true }]);
    const [, updated] = await toldEvents();
    expect(updated).toMatchObject({ event: 'CONTACT_UPDATED', data: { contact: { properties } } });
    expect(updated!.data.changes).toEqual({ plan: 'paid', city: null, age: 36 });
  });

  it('W11: an upsert without a change writes and reports nothing', async () => {
    await upsert(['ada@example.net', { a: 1.5, b: [{ c: 1, d: 2 }] }]);
    const before = await stores.ask('SELECT xmin, updated_at FROM contacts WHERE workspace_id = $1', [
      uuidOf(acme),
    ]);
    const writes = await upsert(
      ['ada@example.net', { b: [{ d: 2, c: 1 }], gone: null }],
      ['ada@example.net', {}],
      ['Ada@example.net', { a: 2 }],
      ['ada@example.net', { a: 1.5 }],
    );
    expect(createdOf(writes)).toEqual([false, false, false, false]);
    expect(
      await stores.ask('SELECT xmin, updated_at FROM contacts WHERE workspace_id = $1', [uuidOf(acme)]),
    ).toEqual(before);
    expect(await toldEvents()).toHaveLength(1);
  });

  it('W11: reports the status of a contact after its creation, in the order of the feed', async () => {
    const people = Array.from({ length: 20 }, (_, n) => `person${n + 10}@example.net`);
    const gone = upserts(...people.map((email): [string, JsonObject] => [email, {}]));
    const writes = await inTransaction((client) =>
      upsertContacts(
        client,
        Date.now(),
        gone.map((one) => ({ ...one, status: 'UNSUBSCRIBED' })),
      ),
    );
    expect(writes.map(({ isCreated, hasNewStatus }) => [isCreated, hasNewStatus])).toEqual(
      people.map(() => [true, true]),
    );
    expect((await toldEvents()).map(({ event, data }) => [event, data.contact.email])).toEqual(
      people.flatMap((email) => [
        ['CONTACT_CREATED', email],
        ['CONTACT_UNSUBSCRIBED', email],
      ]),
    );
  });

  it('applies several upserts of one contact in order, and reports them once', async () => {
    const writes = await upsert(
      ['Ada@example.net', { a: 1, b: 1 }],
      ['bob@example.net', { n: 0 }],
      ['ada@example.net', { b: 2, c: 2 }],
      ['ADA@example.net', { c: 3, a: null }],
    );
    expect(createdOf(writes)).toEqual([true, true, false, false]);
    expect(new Set(writes.map(({ contact }) => contact.id)).size).toBe(2);
    expect((await keptContacts()).map(({ email, properties }) => ({ email, properties }))).toEqual([
      { email: 'Ada@example.net', properties: { b: 2, c: 3 } },
      { email: 'bob@example.net', properties: { n: 0 } },
    ]);
    const told = await toldEvents();
    expect(told.map(({ event }) => event)).toEqual(['CONTACT_CREATED', 'CONTACT_CREATED']);
    expect(told[0]!.data.contact.properties).toEqual({ b: 2, c: 3 });
  });

  it('folds the case of addresses like the database, in any script', async () => {
    const spellings = [
      'ÉVA@example.net',
      'éva@example.net',
      'ΣΟΦΟΣ@example.net',
      'σοφος@example.net',
      'İ@x.net',
    ];
    const writes = await upsert(...spellings.map((email, n): [string, JsonObject] => [email, { n }]));
    const [row] = await stores.ask<{ count: number }>(
      'SELECT count(DISTINCT lower(email))::int AS count FROM unnest($1::text[]) AS email',
      [spellings],
    );
    expect(new Set(writes.map(({ contact }) => contact.id)).size).toBe(row!.count);
    expect(await keptContacts()).toHaveLength(row!.count);
  });

  it('reads keys as they were written, whatever they are', async () => {
    const properties = { '\\': 1, 'é"': 2, '\n': 3, 'constructor': 4, 'k\\u00e9': 5 };
    await upsert(['ada@example.net', properties]);
    const [write] = await upsert(['ada@example.net', { '\\': 2 }]);
    expect(write!.contact.properties).toEqual({ ...properties, '\\': 2 });
    expect((await toldEvents())[1]!.data.changes).toEqual({ '\\': 2 });
  });

  it('keeps the contacts of two workspaces apart', async () => {
    const other = await stores.openWorkspace();
    const writes = await inTransaction((client) =>
      upsertContacts(client, Date.now(), [
        { workspaceId: acme, email: 'ada@example.net', properties: { a: 1 } },
        { workspaceId: other, email: 'ada@example.net', properties: { b: 1 } },
      ]),
    );
    expect(createdOf(writes)).toEqual([true, true]);
    expect(writes.map(({ contact }) => contact.workspaceId)).toEqual([acme, other]);
    expect((await keptContacts())[0]!.properties).toEqual({ a: 1 });
  });
});

describe('The size of the properties of a contact', () => {
  const many = (from: number, count: number): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`key${from + n}`, n]));

  it('G11: only the upsert that would make them too large is skipped, and is not reported', async () => {
    await upsert(['ada@example.net', many(0, 99)]);
    const writes = await upsert(
      ['ada@example.net', many(200, 2)],
      ['ada@example.net', many(300, 1)],
      ['ada@example.net', { key0: 'x'.repeat(65_000) }],
      ['bob@example.net', { a: 1 }],
    );
    expect(createdOf(writes)).toEqual([false, false, false, true]);
    expect(writes.map(({ exceeded }) => exceeded !== undefined)).toEqual([true, false, true, false]);
    expect(writes[0]!.exceeded).toEqual({ size: { max: 100, unit: 'keys' }, amount: 101 });
    expect(writes[2]!.exceeded?.size).toEqual({ max: 65_536, unit: 'bytes' });
    expect(Object.keys(writes[0]!.contact.properties)).toHaveLength(100);
    expect((await toldEvents())[1]!.data.changes).toEqual({ key300: 0 });
  });
});

describe('Concurrent groups', () => {
  const addresses = Array.from({ length: 40 }, (_, n) => `person${n}@example.net`);

  it('two groups over the same contacts in opposite order both succeed, and no merge is lost', async () => {
    await upsert(...addresses.slice(0, 20).map((email): [string, JsonObject] => [email, { start: true }]));
    for (let round = 0; round < 10; round += 1) {
      const group = (name: string): [string, JsonObject][] =>
        addresses.map((email) => [email, { [`${name}${round}`]: round }]);
      await Promise.all([
        upsert(...group('left')),
        upsert(...group('right').reverse()),
        upsert(...group('odd').filter((_, n) => n % 2 === 1)),
      ]);
    }
    const kept = await keptContacts();
    expect(kept).toHaveLength(40);
    for (const { email, properties } of kept) {
      const number = Number(/\d+/.exec(email)![0]);
      const expected = 20 + (number % 2 === 1 ? 10 : 0) + (number < 20 ? 1 : 0);
      expect(Object.keys(properties)).toHaveLength(expected);
    }
    const told = await toldEvents();
    expect(told.filter(({ event }) => event === 'CONTACT_CREATED')).toHaveLength(40);
    expect(told.filter(({ event }) => event === 'CONTACT_UPDATED')).toHaveLength(40 * 20 + 20 * 10 - 20);
  });

  it('a group waits for the one that has locked its contact, and merges with what that one committed', async () => {
    await upsert(['ada@example.net', { a: 1 }]);
    let second: Promise<ContactWrite[]> | undefined;
    await inTransaction(async (client) => {
      await upsertContacts(client, Date.now(), upserts(['ada@example.net', { a: 2, b: 2 }]));
      second = upsert(['ada@example.net', { c: 3 }]);
      await stores.untilWaiting();
    });
    expect((await second!)[0]!.contact.properties).toEqual({ a: 2, b: 2, c: 3 });
  });

  it('a rollback undoes contact and event', async () => {
    await upsert(['ada@example.net', { a: 1 }]);
    const failed = inTransaction(async (client) => {
      await upsertContacts(
        client,
        Date.now(),
        upserts(['ada@example.net', { a: 2 }], ['bob@example.net', {}]),
      );
      throw new Error('changed its mind');
    });
    await expect(failed).rejects.toThrow('changed its mind');
    expect((await keptContacts()).map(({ properties }) => properties)).toEqual([{ a: 1 }]);
    expect(await toldEvents()).toHaveLength(1);
  });

  it('5,000 contacts are created, and changed, in three statements', async () => {
    const entries = (value: number): [string, JsonObject][] =>
      Array.from({ length: 5_000 }, (_, n) => [`person${n}@example.net`, { value, city: 'London' }]);
    for (const [value, isCreated, statements] of [
      [1, true, 3],
      [2, false, 3],
      [2, false, 2],
    ] as const) {
      let asked = 0;
      const writes = await inTransaction((client) => {
        const counting = {
          query: (...call: [string, unknown[]]) => ((asked += 1), client.query(...call)),
          pipelineWithNext: (statement: LeadingStatement) => (
            (asked += 1),
            client.pipelineWithNext(statement)
          ),
        };
        return upsertContacts(
          counting as unknown as TransactionClient,
          Date.now(),
          upserts(...entries(value)),
        );
      });
      expect(new Set(createdOf(writes))).toEqual(new Set([isCreated]));
      expect(writes[4_711]!.contact.email).toBe('person4711@example.net');
      expect(asked).toBe(statements);
    }
    expect(await stores.count('contacts', 'workspace_id = $1', [uuidOf(acme)])).toBe(5_000);
    expect(await stores.count('events', 'workspace_id = $1', [uuidOf(acme)])).toBe(10_000);
  });
});
