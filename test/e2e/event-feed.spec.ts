import { beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { WorkspaceStore } from '@posthorn/database';
import { newId, uuidOf } from '@posthorn/kernel';
import { changeRecording } from '@posthorn/use-cases/operate';
import { Api, emailIn } from './api.ts';
import { expectRefusal } from './bad-input/refusal.ts';
import { newRecipient, Stack, type Tenant, TESTS, until, validEmail } from './stack.ts';

interface FeedPage {
  readonly items: { id: string; event: string; createdAt: string; data: { contact: { email: string } } }[];
  readonly hasMore: boolean;
  readonly startAt: string | null;
  readonly resumeAt: string;
}

const stack = Stack.forTests({
  gateways: 2,
  sink: {
    script: (stage, { to }) =>
      stage === 'rcpt' && to.at(-1)?.startsWith('nobody-') ? { reply: '550 5.1.1 No such user' } : undefined,
  },
});
let tenant: Tenant;
beforeAll(async () => {
  tenant = await stack.createTenant('Feed');
});

const api = (key = tenant.keys.apiUser, gateway = 0): Api => new Api(stack.gateways[gateway]!.url, key);
const read = async (query = '', key?: string): Promise<FeedPage> => {
  const { status, text, body } = await api(key).get(`/v1/events${query}`);
  expect([status, text]).toEqual([200, expect.anything()]);
  return body['events'] as FeedPage;
};

describe('GET /v1/events', () => {
  it('N5: returns events in order, page by page, also to a VIEWER, and can be continued later', async () => {
    const first = await read();
    expect(first).toMatchObject({ items: [], hasMore: false, startAt: null });
    const emails = Array.from({ length: 5 }, newRecipient);
    for (const [n, email] of emails.entries()) await api(undefined, n % 2).post('/v1/contacts', { email });
    await until(async () => (await read()).items.length === 5, 'the events are shown');

    const shown: string[] = [];
    for (let query = `?limit=2&startAt=${first.resumeAt}`; query !== '';) {
      const { items, hasMore, startAt } = await read(query, tenant.keys.viewer);
      expect(hasMore).toBe(startAt !== null);
      shown.push(...items.map(({ data }) => data.contact.email));
      query = startAt === null ? '' : `?limit=2&startAt=${startAt}`;
    }
    expect(shown).toEqual(emails);

    const { items, resumeAt } = await read();
    expect((await read(`?after=${items[2]!.id}`)).items).toEqual(items.slice(3));
    expect((await read('?event=CONTACT_DELETED')).items).toEqual([]);
    expect((await read('?event=CONTACT_CREATED')).items).toEqual(items);
    await api().post('/v1/contacts', { email: newRecipient() });
    await until(async () => (await read(`?startAt=${resumeAt}`)).items.length === 1, 'the next is shown');
  });

  it('N5: shows what was recorded, and posted to webhooks, byte for byte', async () => {
    const { workspaceId, keys } = await stack.createTenant('Exact');
    await api(keys.apiUser).post('/v1/contacts', { email: newRecipient() });
    // A parser would lose the second name and the digit, and move the last name to the front.
    const { rows } = await stack.database.pool.query<{ payload: string }>(
      `UPDATE events SET payload = replace(payload, '"properties":{}', '"properties":{"[erased]":1.0,"[erased]":2,"1":3}')
       WHERE  workspace_id = $1 RETURNING payload`,
      [uuidOf(workspaceId)],
    );
    const [{ payload }] = rows as [{ payload: string }];
    expect(payload).toContain('[erased]');
    await until(async () => (await read('', keys.apiUser)).items.length > 0, 'the event is shown');
    const { text, body } = await api(keys.apiUser).get('/v1/events');
    const { items, resumeAt } = body['events'] as FeedPage;
    expect(text).toBe(
      `{"events":{"items":[{"id":"${items[0]!.id}",${payload.slice(1)}],"hasMore":false,"startAt":null,"resumeAt":"${resumeAt}"}}`,
    );
  });

  it('G3: returns no event of another workspace, and does not know their ids', async () => {
    const [{ id }] = (await read()).items as [FeedPage['items'][0]];
    const { apiUser } = (await stack.createTenant('Other')).keys;
    expect((await read('', apiUser)).items).toEqual([]);
    const [foreign, unknown] = [
      await api(apiUser).get(`/v1/events?after=${id}`),
      await api(apiUser).get(`/v1/events?after=${newId('evt', Date.now())}`),
    ];
    expectRefusal(foreign, 400, '`after` is not the id of an event of this workspace');
    expect(foreign.body).toEqual(unknown.body);
  });

  it('N5: shows events of emails only while a webhook, even a paused one, is subscribed to them', async () => {
    const { apiUser } = (await stack.createTenant('Polling')).keys;
    const send = async (): Promise<string> => {
      const email = validEmail();
      const sent = await api(apiUser).post('/v1/emails', email);
      await stack.onlyMailTo(email.to);
      return (sent.body['email'] as { id: string }).id;
    };
    await send();
    const subscription = { url: 'https://polled.example.com/', events: ['EMAIL_SENT'], status: 'PAUSED' };
    await api(apiUser).post('/v1/webhooks', subscription);
    const email = await send();
    await until(async () => (await read('', apiUser)).items.length > 0, 'the event is shown');
    expect((await read('', apiUser)).items).toMatchObject([
      { event: 'EMAIL_SENT', data: { email: { id: email } } },
    ]);
  });

  it('N5, W12: shows all events of emails, in order and without any webhook, of a workspace whose operator has them recorded', async () => {
    const { workspaceId, keys } = await stack.createTenant('Polling without a webhook');
    const send = async (to: string): Promise<string> => {
      const { id } = emailIn(await api(keys.apiUser).post('/v1/emails', { ...validEmail(), to }));
      await until(async () => (await stack.outboxRow(id)) === undefined, `${id} is finished`);
      return id;
    };
    const record = (emailEvents: string): Promise<unknown> =>
      changeRecording(new WorkspaceStore(stack.database), workspaceId, TESTS, emailEvents);

    await send(newRecipient());
    await record('all');
    const sent = await send(newRecipient());
    const bounced = await send(`nobody-${newRecipient()}`);
    await record('subscribed');
    await send(newRecipient());
    await api(keys.apiUser).post('/v1/contacts', { email: newRecipient() });

    // The event of the contact is always recorded, and is the last one.
    await until(async () => (await read('', keys.apiUser)).items.length >= 3, 'the events are shown');
    expect((await read('', keys.viewer)).items).toMatchObject([
      { event: 'EMAIL_SENT', data: { email: { id: sent, status: 'SENT' } } },
      { event: 'EMAIL_BOUNCED', data: { email: { id: bounced, status: 'BOUNCED' }, reply: { code: 550 } } },
      { event: 'CONTACT_CREATED' },
    ]);
    const { items, startAt } = await read('?limit=1', keys.apiUser);
    expect(items).toMatchObject([{ event: 'EMAIL_SENT' }]);
    expect((await read(`?limit=1&startAt=${startAt}`, keys.apiUser)).items).toMatchObject([
      { event: 'EMAIL_BOUNCED' },
    ]);
    const due = 'SELECT count(*)::int FROM outbox WHERE lane_id = $1';
    expect(await stack.count(due, [`${workspaceId}.events`])).toBe(0);
    const deliveries = 'SELECT count(*)::int FROM webhook_deliveries WHERE workspace_id = $1';
    expect(await stack.count(deliveries, [uuidOf(workspaceId)])).toBe(0);
  });

  it('N5: refuses positions that are too old, or that the feed has not reached', async () => {
    const old = newId('evt', Date.UTC(2020, 1, 1)).slice(4);
    expectRefusal(
      await api().get(`/v1/events?startAt=9-1-${Date.now()}-${old}`),
      410,
      'The feed has not come as far',
    );
    await stack.database.pool.query(`UPDATE event_eras SET began_at = '2020-01-01'`);
    const answer = await api().get(`/v1/events?startAt=1-1-${Date.UTC(2020, 1, 1)}-${old}`);
    expectRefusal(answer, 410, 'are no longer kept');
    expectRefusal(await api().get(`/v1/events?after=evt_${old}`), 410, 'are no longer kept');
  });

  it.each([
    ['startAt=x', '`startAt` is malformed'],
    [`startAt=${randomUUID()}`, '`startAt` is malformed'],
    ['startAt=', '`startAt`'],
    ['after=x', '`after` is not an id of an event'],
    [`after=${newId('trs', 0)}`, '`after` is not an id of an event'],
    [`after=${newId('evt', 0)}&startAt=1-1-1-${newId('evt', 0).slice(4)}`, '`startAt` and `after`'],
    ['event=CONTACT', '`event`'],
    ['limit=101', '`limit`'],
    ['sort=createdAt.asc', '`sort`'],
  ])('refuses ?%s', async (query, sentence) => {
    expectRefusal(await api().get(`/v1/events?${query}`), 400, sentence);
  });
});
