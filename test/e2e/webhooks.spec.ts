import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Page } from '@posthorn/domain';
import { Api, type Answer } from './api.ts';
import { expectRefusal } from './bad-input/refusal.ts';
import { Stack, type Tenant } from './stack.ts';

interface ShownWebhook {
  readonly id: string;
  readonly url: string;
  readonly events: string[];
  readonly status: string;
  readonly token: string;
  readonly createdAt: string;
}

const PATH = '/v1/webhooks';
const WANTED = { url: 'https://example.com/hook', events: ['CONTACT_CREATED', 'CONTACT_UPDATED'] };
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const stack = Stack.forTests({ sends: false });
let tenant: Tenant;
beforeEach(async () => {
  tenant = await stack.createTenant('Webhooks');
});

const api = (): Api => stack.apiAs(tenant.keys.apiUser);
const remove = (id: string): Promise<Answer> => api().send('DELETE', `${PATH}/${id}`, undefined);

function webhookIn({ status, text, body }: Answer): ShownWebhook {
  expect([status, text]).toEqual([200, expect.stringContaining('"webhook"')]);
  return body['webhook'] as ShownWebhook;
}

const create = async (change: object = {}): Promise<ShownWebhook> =>
  webhookIn(await api().post(PATH, { ...WANTED, ...change }));

const page = async (query = ''): Promise<Page<ShownWebhook>> => {
  const answer = await api().get(PATH + query);
  expect(answer.status).toBe(200);
  return answer.body['webhooks'] as Page<ShownWebhook>;
};

describe('POST /v1/webhooks: 200', () => {
  it('E10, F7, W3: creates a webhook and generates its token', async () => {
    const answer = await api().post(PATH, WANTED);
    expect(answer.body).toEqual({
      webhook: {
        ...WANTED,
        id: expect.stringMatching(/^wh_[0-9a-z]{26}$/),
        status: 'ACTIVE',
        token: expect.stringMatching(/^wht_[0-9A-Za-z]{32}$/),
        createdAt: expect.stringMatching(TIME),
      },
    });
  });

  it('W2: keeps repeated events once, in order', async () => {
    const events = ['CONTACT_DELETED', 'EMAIL_SENT', 'CONTACT_DELETED', 'EMAIL_SENT', 'CONTACT_CREATED'];
    expect((await create({ events })).events).toEqual(['CONTACT_DELETED', 'EMAIL_SENT', 'CONTACT_CREATED']);
  });

  it.each(['12345678', ' !"#$%&~ ', 'x'.repeat(256)])(
    'W3: keeps a token of the caller: %j',
    async (token) => {
      const { id } = await create({ token });
      expect(webhookIn(await api().get(`${PATH}/${id}`)).token).toBe(token);
    },
  );

  it.each([
    'https://example.com',
    'HTTPS://Example.COM:8443/a/../b?key=%20&x=ü#'.slice(0, -1),
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/hook',
    `https://example.com/${'x'.repeat(2_048 - 'https://example.com/'.length)}`,
  ])('W1: accepts %s, and shows it unchanged', async (url) => {
    expect((await create({ url })).url).toBe(url);
  });

  it('W9: creates one that is paused, to which nothing is ever posted before it is active', async () => {
    const { id, status } = await create({ status: 'PAUSED' });
    expect(status).toBe('PAUSED');
    expect(webhookIn(await api().get(`${PATH}/${id}`)).status).toBe('PAUSED');
    expect(await stack.count('SELECT count(*)::int FROM paused_lanes WHERE lane_id = $1', [id])).toBe(1);
  });

  it('allows two webhooks with the same URL', async () => {
    expect((await create()).id).not.toBe((await create()).id);
  });

  it('W1: accepts http and loopback where the operator allows them', async () => {
    const open = await stack.startApp('gateway', {
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1',
    });
    const there = new Api(open.url, tenant.keys.apiUser);
    const url = 'http://localhost:4000/hook';
    expect(webhookIn(await there.post(PATH, { ...WANTED, url })).url).toBe(url);
    const metadata = 'http://169.254.169.254/latest/meta-data';
    expectRefusal(await there.post(PATH, { ...WANTED, url: metadata }), 400, 'which is not public');
    expectRefusal(await api().post(PATH, { ...WANTED, url }), 400, 'begins with `http://`');
  });
});

describe('GET /v1/webhooks: 200', () => {
  it('E8, F7: lists the webhooks of the workspace, without their tokens', async () => {
    const { token: _token, ...shown } = await create();
    expect(await page()).toEqual({ items: [shown], hasMore: false, startAt: null });
  });

  it('G10: never splits webhooks of one millisecond across two pages', async () => {
    for (let n = 0; n < 3; n += 1) await create();
    await stack.database.pool.query(`UPDATE webhooks SET created_at = '2030-01-01T00:00:00.123456Z'`);
    const { items, hasMore, startAt } = await page('?limit=1');
    expect([items.length, hasMore, startAt]).toEqual([3, false, null]);
    expect((await page('?startAt=2030-01-01T00:00:00.123Z')).items).toHaveLength(3);
  });
});

describe('GET /v1/webhooks/{webhook_id}: 200', () => {
  it('E9, A3: shows a webhook with its token, to a VIEWER too', async () => {
    const webhook = await create();
    const answer = await api().get(`${PATH}/${webhook.id}`, { key: tenant.keys.viewer });
    expect(answer.body).toEqual({ webhook });
  });
});

describe('POST /v1/webhooks/{webhook_id}: 200', () => {
  const update = async (id: string, change: object): Promise<ShownWebhook> =>
    webhookIn(await api().post(`${PATH}/${id}`, change));

  it.each([
    { events: ['EMAIL_SENT'] },
    { url: 'https://example.org/other' },
    { token: 'another one' },
    { status: 'PAUSED' },
    { events: ['CONTACT_DELETED'], url: 'https://example.org/', token: 'sesame, open', status: 'PAUSED' },
  ])('E11, W4: changes %j and keeps the rest', async (change) => {
    const webhook = await create();
    expect(await update(webhook.id, change)).toEqual({ ...webhook, ...change });
    expect(webhookIn(await api().get(`${PATH}/${webhook.id}`))).toEqual({ ...webhook, ...change });
  });

  it('W4: an empty body, or current values, change nothing', async () => {
    const { createdAt: _createdAt, id, ...same } = await create();
    const updatedAt = (): Promise<number> =>
      stack.count(`SELECT extract(epoch FROM max(updated_at))::float8 AS count FROM webhooks`);
    const before = await updatedAt();
    expect(await update(id, {})).toMatchObject(same);
    expect(await update(id, same)).toMatchObject(same);
    expect(await updatedAt()).toBe(before);
  });

  it('W4, W9: pauses and activates a webhook', async () => {
    const { id } = await create();
    const lanes = (): Promise<number> =>
      stack.count('SELECT count(*)::int FROM paused_lanes WHERE lane_id = $1', [id]);
    for (const [status, paused] of [
      ['PAUSED', 1],
      ['PAUSED', 1],
      ['ACTIVE', 0],
      ['ACTIVE', 0],
    ] as const) {
      expect((await update(id, { status })).status).toBe(status);
      expect(await lanes()).toBe(paused);
    }
  });
});

describe('DELETE /v1/webhooks/{webhook_id}: 200', () => {
  it('E12: shows the deleted webhook, which no longer exists', async () => {
    const webhook = await create();
    const answer = await remove(webhook.id);
    expect([answer.status, answer.body]).toEqual([200, { webhook, isDeleted: true }]);
    expectRefusal(await remove(webhook.id), 404, 'There is no webhook with this id');
    expectRefusal(await api().get(`${PATH}/${webhook.id}`), 404, 'There is no webhook with this id');
    expect((await page()).items).toEqual([]);
  });
});
