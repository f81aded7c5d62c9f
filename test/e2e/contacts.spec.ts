import { beforeEach, describe, expect, it } from '@jest/globals';
import { uuidOf } from '@posthorn/kernel';
import type { Page } from '@posthorn/domain';
import type { Answer, Api } from './api.ts';
import { expectRefusal } from './bad-input/refusal.ts';
import { validEmail, Stack, type Tenant } from './stack.ts';

interface ShownContact {
  readonly id: string;
  readonly email: string;
  readonly properties: Record<string, unknown>;
  readonly status: string;
  readonly unsubscribedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

interface ShownBatch {
  readonly successful: ShownContact[];
  readonly failed: { index: number; email: string | null; error: { statusCode: number; message: string } }[];
}

interface RecordedEvent {
  readonly event: string;
  readonly data: { readonly contact: { readonly id: string }; readonly changes?: object };
}

const PATH = '/v1/contacts';
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const stack = Stack.forTests({ sends: false });
let tenant: Tenant;
beforeEach(async () => {
  tenant = await stack.createTenant('Contacts');
});

const api = (): Api => stack.apiAs(tenant.keys.apiUser);
const remove = (id: string): Promise<Answer> => api().send('DELETE', `${PATH}/${id}`, undefined);

function contactIn({ status, text, body }: Answer): ShownContact {
  expect([status, text]).toEqual([200, expect.stringContaining('"contact"')]);
  return body['contact'] as ShownContact;
}

const create = async (email: string, properties?: object): Promise<ShownContact> =>
  contactIn(await api().post(PATH, { email, properties }));

const read = async (id: string): Promise<ShownContact> => contactIn(await api().get(`${PATH}/${id}`));

const page = async (query = ''): Promise<Page<ShownContact>> => {
  const answer = await api().get(PATH + query);
  expect([answer.status, answer.text]).toEqual([200, expect.anything()]);
  return answer.body['contacts'] as Page<ShownContact>;
};

const batch = async (contacts: unknown[]): Promise<ShownBatch> => {
  const answer = await api().post(`${PATH}/batch`, { contacts });
  expect([answer.status, answer.text.slice(0, 500)]).toEqual([200, expect.anything()]);
  return answer.body['contacts'] as ShownBatch;
};

async function recordedEvents(): Promise<RecordedEvent[]> {
  const { rows } = await stack.database.pool.query<{ payload: string }>(
    'SELECT payload FROM events WHERE workspace_id = $1 ORDER BY xid, id',
    [uuidOf(tenant.workspaceId)],
  );
  return rows.map(({ payload }) => JSON.parse(payload) as RecordedEvent);
}

const eventNames = async (): Promise<string[]> => (await recordedEvents()).map(({ event }) => event);

async function auditedActions(): Promise<unknown[]> {
  const { body } = await api().get('/v1/audit-log?sort=createdAt.asc', { key: tenant.keys.editor });
  const { items } = body['auditLog'] as { items: { action: string; actor: { kind: string } }[] };
  return items
    .filter(({ action }) => action.startsWith('contact.'))
    .map((one) => [one.action, one.actor.kind]);
}

describe('POST /v1/contacts: 200', () => {
  it('creates a contact, and reports it', async () => {
    const properties = { firstName: 'Ada', tags: ['a', { b: null }], constructor: 1 };
    const answer = await api().post(PATH, { email: ' Ada@Example.NET', properties });
    expect(answer.body).toEqual({
      contact: {
        id: expect.stringMatching(/^ctc_[0-9a-z]{26}$/),
        email: 'Ada@example.net',
        properties,
        status: 'SUBSCRIBED',
        unsubscribedAt: null,
        createdAt: expect.stringMatching(TIME),
        updatedAt: expect.stringMatching(TIME),
      },
      isCreated: true,
    });
    const { id } = contactIn(answer);
    expect(await recordedEvents()).toMatchObject([
      { event: 'CONTACT_CREATED', data: { contact: { id, properties } } },
    ]);
  });

  it('W11: updates an existing contact, and reports what has changed; without a change it reports nothing', async () => {
    const { id } = await create('ada@example.net', { plan: 'free', city: 'London' });
    const change = { email: 'ADA@example.net', properties: { plan: 'pro', city: null } };
    const answer = await api().post(PATH, change);
    expect(answer.body).toMatchObject({ contact: { id, email: 'ada@example.net' }, isCreated: false });
    expect(contactIn(answer).properties).toEqual({ plan: 'pro' });
    expect((await api().post(PATH, change)).body).toEqual(answer.body);
    expect((await api().post(PATH, { email: 'ada@example.net' })).body).toEqual(answer.body);
    const [, updated, ...more] = await recordedEvents();
    expect(updated).toMatchObject({
      event: 'CONTACT_UPDATED',
      data: { changes: { plan: 'pro', city: null } },
    });
    expect(more).toEqual([]);
  });

  it('W11: creates a contact who has unsubscribed elsewhere, or unsubscribes an existing one, once', async () => {
    const gone = { email: 'gone@example.net', status: 'UNSUBSCRIBED' };
    const answer = await api().post(PATH, gone);
    expect(answer.body).toMatchObject({ contact: { status: 'UNSUBSCRIBED' }, isCreated: true });
    const { createdAt, unsubscribedAt } = contactIn(answer);
    expect(unsubscribedAt).toBe(createdAt);
    expect(contactIn(await api().post(PATH, { email: 'GONE@example.net' }))).toEqual(contactIn(answer));
    await create('ada@example.net', { plan: 'free' });
    const both = { email: 'ada@example.net', status: 'UNSUBSCRIBED', properties: { plan: 'pro' } };
    const unsubscribed = contactIn(await api().post(PATH, both));
    expect(unsubscribed).toMatchObject({ status: 'UNSUBSCRIBED', properties: { plan: 'pro' } });
    expect(contactIn(await api().post(PATH, both))).toEqual(unsubscribed);
    expect(await eventNames()).toEqual([
      'CONTACT_CREATED',
      'CONTACT_UNSUBSCRIBED',
      'CONTACT_CREATED',
      'CONTACT_UPDATED',
      'CONTACT_UNSUBSCRIBED',
    ]);
  });

  it('S14: emails and requests change the same contact', async () => {
    const { id } = await create('ada@example.net', { plan: 'free' });
    const email = { ...validEmail(), to: 'ADA@example.net', contactProperties: { opened: true } };
    expect((await api().post('/v1/emails', email)).status).toBe(200);
    expect((await read(id)).properties).toEqual({ plan: 'free', opened: true });
  });

  it.each(['ada+x@xn--bcher-kva.example', 'ünï@example.net', `${'a'.repeat(64)}@example.net`])(
    'takes %s',
    async (email) => {
      expect((await create(email)).email).toBe(email);
    },
  );
});

describe('GET /v1/contacts: 200', () => {
  it('finds one by its address, and filters by status', async () => {
    const ada = await create('Ada@example.net');
    const bob = await create('bob@example.net');
    const unsubscribed = contactIn(await api().post(`${PATH}/${bob.id}/unsubscribe`, {}));
    expect((await page('?email=aDa%40EXAMPLE.net')).items).toEqual([ada]);
    expect((await page('?email=nobody%40example.net')).items).toEqual([]);
    expect((await page('?email=ada%40example.net&status=UNSUBSCRIBED')).items).toEqual([]);
    expect((await page('?status=UNSUBSCRIBED')).items).toEqual([unsubscribed]);
    expect((await page('?status=SUBSCRIBED')).items).toEqual([ada]);
    const cleo = await create('cleo@xn--bcher-kva.example');
    expect((await page(`?email=${encodeURIComponent('cleo@BÜCHER.example')}`)).items).toEqual([cleo]);
  });
});

describe('One contact: 200', () => {
  it('W11: is read, changed, unsubscribed, resubscribed and deleted; each change is reported and audited', async () => {
    const contact = await create('ada@example.net', { plan: 'free' });
    const path = `${PATH}/${contact.id}`;
    expect(await read(contact.id)).toEqual(contact);

    const updated = contactIn(await api().post(path, { properties: { plan: null, city: 'Paris' } }));
    expect(updated).toEqual({ ...contact, properties: { city: 'Paris' }, updatedAt: updated.updatedAt });
    expect(contactIn(await api().post(path, {}))).toEqual(updated);

    const off = contactIn(await api().request('POST', `${path}/unsubscribe`, undefined));
    expect(off).toMatchObject({ status: 'UNSUBSCRIBED', unsubscribedAt: expect.stringMatching(TIME) });
    expect(contactIn(await api().post(`${path}/unsubscribe`, {}))).toEqual(off);
    const on = contactIn(await api().request('POST', `${path}/resubscribe`, undefined));
    expect(on).toMatchObject({ status: 'SUBSCRIBED', unsubscribedAt: null, properties: { city: 'Paris' } });

    expect((await remove(contact.id)).body).toEqual({ contact: on, isDeleted: true });
    expectRefusal(await remove(contact.id), 404, 'There is no contact with this id');
    expectRefusal(await api().get(path), 404, 'There is no contact with this id');
    expect((await page()).items).toEqual([]);

    const causes = ['UPDATED', 'UNSUBSCRIBED', 'RESUBSCRIBED', 'DELETED'];
    expect(await eventNames()).toEqual(['CREATED', ...causes].map((cause) => `CONTACT_${cause}`));
    expect(await auditedActions()).toEqual(
      causes.map((cause) => [`contact.${cause.toLowerCase()}`, 'api_key']),
    );
  });

  it('S20: a contact that is created again after its deletion is a new one, and still unsubscribed', async () => {
    const { id } = await create('ada@example.net', { plan: 'free' });
    await api().post(`${PATH}/${id}/unsubscribe`, {});
    await remove(id);
    const again = await create('ada@example.net');
    expect(again).toMatchObject({ status: 'UNSUBSCRIBED', properties: {} });
    expect(again.id).not.toBe(id);
  });
});

describe('POST /v1/contacts/batch: 200', () => {
  it('fails only the item with a string or number that cannot be stored', async () => {
    const { successful, failed } = await batch([
      { email: 'cut@example.net', properties: { name: 'Ada \ud83d' } },
      { email: 'large@example.net', properties: { id: 2 ** 53 } },
      { email: 'whole@example.net', properties: { name: 'Ada 😀' } },
    ]);
    expect(successful.map(({ email }) => email)).toEqual(['whole@example.net']);
    expect(failed.map(({ email, error }) => [email, error.message])).toEqual([
      [
        'cut@example.net',
        '`properties.name` has half of a surrogate pair (U+D800 to U+DFFF); send both or none',
      ],
      ['large@example.net', '`properties.id` is a number too large to hold exactly; send it as text'],
    ]);
  });

  it('validates each item separately, and answers in the order of the request', async () => {
    await create('full@example.net', Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, n])));
    const long = 'x'.repeat(2_000);
    const { successful, failed } = await batch([
      { email: 'ada@example.net', properties: { n: 1, plan: 'free' } },
      { email: 'ada@' },
      null,
      { email: 'full@example.net', properties: { more: 1 } },
      { email: 'ADA@example.net', properties: { n: 2 } },
      { email: 'bob@example.net', properties: [], nonesuch: 1 },
      { properties: {} },
      { email: long },
      { email: 'carl@example.net' },
    ]);
    expect(successful.map(({ email }) => email)).toEqual([
      'ada@example.net',
      'ada@example.net',
      'carl@example.net',
    ]);
    expect(successful[0]).toEqual(successful[1]);
    expect(successful[0]!.properties).toEqual({ n: 2, plan: 'free' });
    expect(failed.map(({ index, email }) => [index, email])).toEqual([
      [1, 'ada@'],
      [2, null],
      [3, 'full@example.net'],
      [5, 'bob@example.net'],
      [6, null],
      [7, null],
    ]);
    const messages = failed.map(({ error }) => error.message);
    const wanted = [
      /`email`/,
      /null; give an object/,
      /101 keys/,
      /`properties`.*`nonesuch`/,
      /missing/,
      /`email`/,
    ];
    wanted.forEach((one, n) => expect(messages[n]).toMatch(one));
    expect(new Set(failed.map(({ error }) => error.statusCode))).toEqual(new Set([400]));
    expect((await page('?email=bob%40example.net')).items).toEqual([]);
  });

  it('accepts 500 items, and none of 501', async () => {
    const contacts = Array.from({ length: 501 }, (_, n) => ({
      email: `p${n}@example.net`,
      properties: { n },
    }));
    expectRefusal(
      await api().post(`${PATH}/batch`, { contacts }),
      400,
      '`contacts` has 501 items, 1 more than the 500 allowed',
    );
    expect((await page()).items).toEqual([]);
    const { successful, failed } = await batch(contacts.slice(1));
    expect(failed).toEqual([]);
    expect(successful.map(({ properties }) => properties['n'])).toEqual(
      contacts.slice(1).map((_one, n) => n + 1),
    );
    expect(await eventNames()).toEqual(Array(500).fill('CONTACT_CREATED'));
  });

  it('imports people who have unsubscribed elsewhere, and subscribes nobody', async () => {
    await create('ada@example.net');
    const [eve, ada, bob, again] = (
      await batch([
        { email: 'eve@example.net', status: 'UNSUBSCRIBED' },
        { email: 'ada@example.net', status: 'UNSUBSCRIBED' },
        { email: 'bob@example.net' },
        { email: 'EVE@example.net', properties: { n: 1 } },
      ])
    ).successful;
    expect([eve, ada, bob, again].map((contact) => contact!.status)).toEqual([
      'UNSUBSCRIBED',
      'UNSUBSCRIBED',
      'SUBSCRIBED',
      'UNSUBSCRIBED',
    ]);
    const { failed } = await batch([{ email: 'eve@example.net', status: 'SUBSCRIBED' }]);
    expect(failed).toMatchObject([{ index: 0, error: { statusCode: 400 } }]);
    expect(await read(eve!.id)).toEqual(again);
    expect((await eventNames()).sort()).toEqual([
      ...Array<string>(3).fill('CONTACT_CREATED'),
      ...Array<string>(2).fill('CONTACT_UNSUBSCRIBED'),
    ]);
  });

  it('writes nothing if all items are invalid', async () => {
    expect((await batch([{}, 1])).failed).toHaveLength(2);
    expect([await eventNames(), (await page()).items]).toEqual([[], []]);
  });
});
