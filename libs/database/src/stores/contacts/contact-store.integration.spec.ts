import { beforeEach, describe, expect, it } from '@jest/globals';
import { type ContactId, newId, sleep, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Contact, type JsonObject, operator, type Page, parseJson } from '@posthorn/domain';
import { rawEmail } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import type { ContactFilter } from '../../sql/contacts.ts';
import { AuditLogStore } from '../workspaces/audit-log-store.ts';
import { ContactChanges } from './contact-changes.ts';
import { ContactStore } from './contact-store.ts';

const ACTOR = operator('test');

const stores = await openTestStores();
const contacts = new ContactStore(stores.database);
const changes = new ContactChanges(stores.database);
let acme: WorkspaceId;

beforeEach(async () => {
  acme = await stores.openWorkspace();
});

async function create(email: string, properties: JsonObject = {}, workspaceId = acme): Promise<Contact> {
  const [write] = await contacts.upsert([{ workspaceId, email, properties }]);
  return write!.contact;
}

const propertiesOf = async (id: ContactId): Promise<JsonObject> =>
  (await contacts.find(acme, id))!.properties;

interface Told {
  readonly event: string;
  readonly data: { readonly contact: { readonly id: string }; readonly changes?: JsonObject };
}

async function told(): Promise<Told[]> {
  const rows = await stores.ask<{ payload: string }>(
    'SELECT payload FROM events WHERE workspace_id = $1 ORDER BY xid, id',
    [uuidOf(acme)],
  );
  return rows.map(({ payload }) => parseJson(payload) as Told);
}

const toldNames = async (): Promise<string[]> => (await told()).map(({ event }) => event);

async function audited(): Promise<[string, JsonObject][]> {
  const log = await new AuditLogStore(stores.database).list(acme, { limit: 100, sort: 'createdAt.asc' });
  const ofContacts = log.items.filter(({ action }) => action.startsWith('contact.'));
  return ofContacts.map(({ action, detail }) => [action, detail]);
}

const addressesOf = ({ items }: Page<Contact>): string[] =>
  items.map(({ email }) => email.replace(/@.*/, ''));

describe('The properties of a contact', () => {
  it('are stored as they were written: a short number stays short', async () => {
    const properties = { large: 1e308, small: 1e-300, z: 1, a: 2 };
    const { id } = await create('ada@example.net', properties);
    const [row] = await stores.ask('SELECT properties::text FROM contacts WHERE workspace_id = $1', [
      uuidOf(acme),
    ]);
    expect(row).toEqual({ properties: JSON.stringify(properties) });
    expect(await propertiesOf(id)).toEqual(properties);
  });
});

describe('A list of contacts', () => {
  async function readAll(filter: ContactFilter, sort: 'createdAt.asc' | 'createdAt.desc'): Promise<string[]> {
    const seen: string[] = [];
    let startAt: ContactId | undefined;
    for (;;) {
      const page = await contacts.list(acme, { limit: 2, sort, startAt }, filter);
      expect(page.items.length).toBeLessThanOrEqual(2);
      seen.push(...addressesOf(page));
      if (page.startAt === null) return seen;
      startAt = `ctc_${page.startAt}` as ContactId;
    }
  }

  it('G10: shows each once, in both orders and for each status, and none of another workspace', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) {
      const { id } = await create(`${name}@example.net`);
      if ('bd'.includes(name)) await changes.setStatus(acme, ACTOR, id, 'UNSUBSCRIBED');
      // The order within a millisecond is undefined.
      await sleep(2);
    }
    await create('f@example.net', {}, await stores.openWorkspace());
    expect(await readAll({}, 'createdAt.asc')).toEqual(names);
    expect(await readAll({}, 'createdAt.desc')).toEqual([...names].reverse());
    expect(await readAll({ status: 'UNSUBSCRIBED' }, 'createdAt.asc')).toEqual(['b', 'd']);
    expect(await readAll({ status: 'SUBSCRIBED' }, 'createdAt.desc')).toEqual(['e', 'c', 'a']);
  });

  it('finds a contact by its address in any letter case', async () => {
    await create('Ada@example.net');
    await create('bob@example.net');
    const find = (filter: ContactFilter): Promise<Page<Contact>> =>
      contacts.list(acme, { limit: 50, sort: 'createdAt.desc' }, filter);
    expect(addressesOf(await find({ email: 'aDA@EXAMPLE.net' }))).toEqual(['Ada']);
    expect(addressesOf(await find({ email: 'ada@example.net', status: 'UNSUBSCRIBED' }))).toEqual([]);
    expect(addressesOf(await find({ email: 'a%' }))).toEqual([]);
  });
});

describe('Changes of a contact', () => {
  it('W11: an update merges properties, is reported with what has changed, and is audited without the values', async () => {
    const { id } = await create('ada@example.net', { plan: 'free', city: 'London', age: 36 });
    const updated = await changes.update(acme, ACTOR, id, { plan: 'paid', city: null, age: 36 });
    expect(updated).toMatchObject({ id, properties: { plan: 'paid', age: 36 } });
    expect(await contacts.find(acme, id)).toEqual(updated);
    const [, event] = await told();
    expect(event).toMatchObject({ event: 'CONTACT_UPDATED', data: { contact: { id } } });
    expect(event!.data.changes).toEqual({ plan: 'paid', city: null });
    expect(await audited()).toEqual([['contact.updated', { properties: ['city', 'plan'] }]]);
  });

  it('shows when it was last changed, in whichever way', async () => {
    const { id } = await create('ada@example.net');
    for (const change of [
      () => create('ada@example.net', { plan: 'free' }),
      () => changes.update(acme, ACTOR, id, { plan: 'paid' }),
      () => changes.setStatus(acme, ACTOR, id, 'UNSUBSCRIBED'),
    ]) {
      await stores.ask(`UPDATE contacts SET created_at = '2020-01-31', updated_at = '2020-01-31'`);
      await change();
      const { createdAt, updatedAt } = (await contacts.find(acme, id))!;
      expect(updatedAt.getTime()).toBeGreaterThan(createdAt.getTime());
    }
  });

  it('W11: unsubscribing, resubscribing and deleting are each reported and audited once', async () => {
    const { id } = await create('ada@example.net', { plan: 'free' });
    for (const status of ['UNSUBSCRIBED', 'SUBSCRIBED'] as const) {
      const changed = await changes.setStatus(acme, ACTOR, id, status);
      expect(changed).toMatchObject({ status, properties: { plan: 'free' } });
      expect(changed!.unsubscribedAt === null).toBe(status === 'SUBSCRIBED');
      expect(await changes.setStatus(acme, ACTOR, id, status)).toEqual(changed);
      expect(await contacts.find(acme, id)).toEqual(changed);
    }
    expect(await changes.delete(acme, ACTOR, id)).toMatchObject({ id, properties: { plan: 'free' } });
    expect(await changes.delete(acme, ACTOR, id)).toBeUndefined();
    expect(await contacts.find(acme, id)).toBeUndefined();
    const causes = ['UNSUBSCRIBED', 'RESUBSCRIBED', 'DELETED'];
    expect(await toldNames()).toEqual(['CREATED', ...causes].map((cause) => `CONTACT_${cause}`));
    expect(await audited()).toEqual(causes.map((cause) => [`contact.${cause.toLowerCase()}`, {}]));
  });

  it('W11: an update without a change writes nothing', async () => {
    const { id } = await create('ada@example.net', { a: [1, { b: 2 }] });
    const before = await stores.ask('SELECT xmin, * FROM contacts WHERE id = $1', [uuidOf(id)]);
    await changes.update(acme, ACTOR, id, { a: [1, { b: 2 }], gone: null });
    await changes.setStatus(acme, ACTOR, id, 'SUBSCRIBED');
    expect(await stores.ask('SELECT xmin, * FROM contacts WHERE id = $1', [uuidOf(id)])).toEqual(before);
    expect([await toldNames(), await audited()]).toEqual([['CONTACT_CREATED'], []]);
  });

  it('G11: an update that would make the properties too large changes nothing, and says by how much', async () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`key${n}`, n]));
    const { id } = await create('ada@example.net', many);
    expect(await changes.update(acme, ACTOR, id, { key0: 1, more: 1 })).toEqual({
      exceeded: { size: { max: 100, unit: 'keys' }, amount: 101 },
    });
    expect([await propertiesOf(id), await toldNames()]).toEqual([many, ['CONTACT_CREATED']]);
  });

  it('G3: no contact of another workspace is found, changed or deleted', async () => {
    const { id } = await create('ada@example.net');
    const other = await stores.openWorkspace();
    const unknown = newId('ctc', Date.now());
    for (const [workspaceId, at] of [
      [other, id],
      [acme, unknown],
    ] as const) {
      expect(await contacts.find(workspaceId, at)).toBeUndefined();
      expect(await changes.update(workspaceId, ACTOR, at, { a: 1 })).toBeUndefined();
      expect(await changes.setStatus(workspaceId, ACTOR, at, 'UNSUBSCRIBED')).toBeUndefined();
      expect(await changes.delete(workspaceId, ACTOR, at)).toBeUndefined();
    }
    expect(await contacts.find(acme, id)).toMatchObject({ status: 'SUBSCRIBED', properties: {} });
  });

  it('keeps what an upsert knows apart from whether the contact is subscribed', async () => {
    const { id } = await create('ada@example.net');
    const { unsubscribedAt } = (await changes.setStatus(acme, ACTOR, id, 'UNSUBSCRIBED'))!;
    const upserted = await create('ADA@example.net', { plan: 'paid' });
    expect(upserted).toMatchObject({ id, status: 'UNSUBSCRIBED', unsubscribedAt });
    expect(await contacts.find(acme, id)).toEqual(upserted);
  });
});

describe('Concurrent changes', () => {
  it('every change of one contact is kept: batches, emails, updates and statuses', async () => {
    const { id } = await create('ada@example.net');
    const work: Promise<unknown>[] = [];
    for (let n = 0; n < 20; n += 1) {
      work.push(create('Ada@example.net', { [`upsert${n}`]: n }));
      work.push(changes.update(acme, ACTOR, id, { [`update${n}`]: n }));
      work.push(
        stores.accept([rawEmail(acme, { contactProperties: { [`email${n}`]: n } })]),
        changes.setStatus(acme, ACTOR, id, n % 2 === 0 ? 'UNSUBSCRIBED' : 'SUBSCRIBED'),
      );
    }
    await Promise.all(work);
    expect(Object.keys(await propertiesOf(id))).toHaveLength(60);
    const names = await toldNames();
    expect(names.filter((name) => name === 'CONTACT_UPDATED')).toHaveLength(60);
    // Each has seen the result of the previous one, in whatever order they ran.
    const count = (wanted: string): number => names.filter((name) => name === wanted).length;
    const { status } = (await contacts.find(acme, id))!;
    const isOff = status === 'UNSUBSCRIBED' ? 1 : 0;
    expect(count('CONTACT_UNSUBSCRIBED')).toBe(count('CONTACT_RESUBSCRIBED') + isOff);
  });

  it('batches and emails over the same contacts in opposite order do not deadlock', async () => {
    const addresses = Array.from({ length: 50 }, (_, n) => `person${n}@example.net`);
    const batch = (name: string, emails: string[]): Promise<unknown> =>
      contacts.upsert(emails.map((email) => ({ workspaceId: acme, email, properties: { [name]: 1 } })));
    const send = (name: string, emails: string[]): Promise<unknown> =>
      stores.accept(
        emails.map((address) => rawEmail(acme, { to: { address }, contactProperties: { [name]: 1 } })),
      );
    for (let round = 0; round < 5; round += 1) {
      const backwards = [...addresses].reverse();
      await Promise.all([
        batch(`left${round}`, addresses),
        batch(`right${round}`, backwards),
        send(`email${round}`, backwards),
        send(`mail${round}`, addresses),
      ]);
    }
    const { items } = await contacts.list(acme, { limit: 100, sort: 'createdAt.asc' }, {});
    expect(items).toHaveLength(50);
    for (const { properties } of items) expect(Object.keys(properties)).toHaveLength(20);
  });

  it('an upsert concurrent with a deletion updates the contact before it, or creates a new one after it', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { id } = await create('ada@example.net', { old: true });
      const [deleted, upserted] = await Promise.all([
        changes.delete(acme, ACTOR, id),
        create('ada@example.net', { new: true }),
      ]);
      const left = await contacts.list(acme, { limit: 10, sort: 'createdAt.asc' }, {});
      if (upserted.id === id) {
        expect(deleted!.properties).toEqual({ old: true, new: true });
        expect(left.items).toEqual([]);
      } else {
        expect(deleted!.properties).toEqual({ old: true });
        expect(left.items).toEqual([upserted]);
        expect(upserted.properties).toEqual({ new: true });
        await changes.delete(acme, ACTOR, upserted.id);
      }
    }
    const names = await toldNames();
    const count = (event: string): number => names.filter((name) => name === event).length;
    expect(count('CONTACT_CREATED')).toBe(count('CONTACT_DELETED'));
  });

  it('one of two deletions takes effect', async () => {
    const { id } = await create('ada@example.net');
    const deletions = await Promise.all([1, 2, 3].map(() => changes.delete(acme, ACTOR, id)));
    expect(deletions.filter((deleted) => deleted !== undefined)).toHaveLength(1);
    expect(await toldNames()).toEqual(['CONTACT_CREATED', 'CONTACT_DELETED']);
  });
});
