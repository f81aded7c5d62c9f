import { beforeEach, describe, expect, it } from '@jest/globals';
import { type DeliveryId, uuidOf, type WebhookId } from '@posthorn/kernel';
import type { Page } from '@posthorn/domain';
import { type Answer, partIn } from './api.ts';
import { addDelivery, somePayload } from './deliveries.ts';
import { subscribe } from './receiving.ts';
import { newRecipient, Stack, until } from './stack.ts';
import { DAY_MS } from './times.ts';

interface Shown {
  readonly id: DeliveryId;
  readonly eventId: string;
  readonly status: string;
  readonly createdAt: string;
  readonly attempts: readonly Record<string, unknown>[];
  readonly [field: string]: unknown;
}

const stack = Stack.forTests({ receives: () => ({ status: 500 }) });
let webhook: WebhookId;
beforeEach(async () => {
  webhook = (await subscribe(stack, stack.receiver.url('/hook'))).id;
});

const ask = (query: Record<string, string> = {}): Promise<Answer> =>
  stack.api().get(`/v1/webhooks/${webhook}/deliveries?${new URLSearchParams(query).toString()}`, {
    key: stack.tenant.keys.viewer,
  });
const list = async (query: Record<string, string> = {}): Promise<Page<Shown>> =>
  partIn(await ask(query), 'deliveries');
const read = async (id: string): Promise<Shown> =>
  (await stack.api().get(`/v1/webhooks/${webhook}/deliveries/${id}`)).body['delivery'] as Shown;
const add = (wanted: Parameters<typeof addDelivery>[3] = {}) =>
  addDelivery(stack, stack.tenant.workspaceId, webhook, wanted);
const idsOf = ({ items }: Page<Shown>) => items.map(({ id }) => id);

describe('The deliveries of a webhook', () => {
  it('W10: are shown with their attempts, the payload, and the time of the next attempt', async () => {
    const email = newRecipient();
    await stack.api().post('/v1/contacts', { email });
    await until(async () => (await list()).items[0]?.lastAttempt !== undefined, 'a delivery is made');
    await until(async () => (await list()).items[0]!['lastAttempt'] !== null, 'an attempt is recorded');
    // Otherwise it might be tried again during the test on a slow machine.
    await stack.database.pool.query(
      `UPDATE outbox SET due_at = due_at + interval '1 day' WHERE lane_id = $1`,
      [webhook],
    );
    const { items } = await list();
    expect(items).toEqual([
      {
        id: expect.stringMatching(/^dlv_/),
        webhookId: webhook,
        eventId: expect.stringMatching(/^evt_/),
        event: 'CONTACT_CREATED',
        isTest: false,
        status: 'PENDING',
        isUnderWay: false,
        attemptCount: 1,
        lastAttempt: { at: expect.any(String), statusCode: 500, error: 'http' },
        createdAt: expect.any(String),
        nextAttemptAt: expect.any(String),
        finishedAt: null,
      },
    ]);
    const { body, attempts, ...listed } = await read(items[0]!.id);
    expect(listed).toEqual(items[0]);
    const [posted] = stack.receiver.posts.filter((post) => post.body.includes(email));
    expect(body).toBe(posted!.body.toString());
    expect(posted!.headers['x-service-delivery-id']).toBe(listed.id);
    expect(attempts).toEqual([
      {
        number: 1,
        at: expect.any(String),
        statusCode: 500,
        error: 'http',
        reason: null,
        headers: expect.objectContaining({ connection: 'keep-alive' }),
        body: '',
        durationMs: expect.any(Number),
        isLate: false,
      },
    ]);
  });

  it('W10, W9: have no next attempt while their webhook is paused, and their own again afterwards', async () => {
    await stack.api().post('/v1/contacts', { email: newRecipient() });
    await until(async () => (await list()).items[0]?.['attemptCount'] === 1, 'an attempt is recorded');
    const [{ id }] = (await list()).items as [Shown];
    const dueAt = new Date(Date.now() + DAY_MS).toISOString();
    await stack.database.pool.query('UPDATE outbox SET due_at = $2 WHERE subject_id = $1', [
      uuidOf(id),
      dueAt,
    ]);
    const times = async () => [(await list()).items[0]!['nextAttemptAt'], (await read(id))['nextAttemptAt']];
    const change = (status: string) => stack.api().post(`/v1/webhooks/${webhook}`, { status });
    // That emails are paused says nothing about deliveries.
    await stack.database.pool.query(
      `INSERT INTO paused_lanes (queue, lane_id, reason) VALUES ('email', '*', 'test')`,
    );
    expect(await times()).toEqual([dueAt, dueAt]);
    await change('PAUSED');
    expect(await times()).toEqual([null, null]);
    expect(await read(id)).toMatchObject({ status: 'PENDING', isUnderWay: false, finishedAt: null });
    await change('ACTIVE');
    expect(await times()).toEqual([dueAt, dueAt]);
    await stack.database.pool.query(
      `INSERT INTO paused_lanes (queue, lane_id, reason) VALUES ('webhook', '*', 'test')`,
    );
    expect(await times()).toEqual([null, null]);
    await stack.database.pool.query(`DELETE FROM paused_lanes WHERE lane_id = '*'`);
    expect(await times()).toEqual([dueAt, dueAt]);
  });

  it('W10, W8: of a webhook that was disabled by a 410 have no next attempt', async () => {
    stack.receiver.answer = () => ({ status: 410 });
    try {
      await stack.api().post('/v1/contacts', { email: newRecipient() });
      await until(async () => (await list()).items[0]?.['attemptCount'] === 1, 'an attempt is recorded');
    } finally {
      stack.receiver.answer = () => ({ status: 500 });
    }
    expect((await list()).items).toMatchObject([{ status: 'PENDING', nextAttemptAt: null }]);
    const test = await stack.api().post(`/v1/webhooks/${webhook}/test`, {});
    expect(test.body['delivery']).toMatchObject({ status: 'PENDING', nextAttemptAt: null });
  });

  it('W10, G10: are listed by status, event and time, page by page, the newest first', async () => {
    const atMs = Date.now();
    const ids: string[] = [];
    for (const [index, status] of (['EXHAUSTED', 'SUCCEEDED', 'EXPIRED', 'EXHAUSTED'] as const).entries()) {
      const event = index === 0 ? 'CONTACT_DELETED' : 'CONTACT_CREATED';
      ids.unshift(await add({ status, event, atMs: atMs - 4 * 3_600_000 + index * 3_600_000 }));
    }
    expect(idsOf(await list())).toEqual(ids);
    expect(idsOf(await list({ sort: 'createdAt.asc' }))).toEqual([...ids].reverse());
    expect(idsOf(await list({ status: 'EXHAUSTED' }))).toEqual([ids[0], ids[3]]);
    expect(idsOf(await list({ status: 'SUCCEEDED' }))).toEqual([ids[2]]);
    expect(idsOf(await list({ event: 'CONTACT_DELETED' }))).toEqual([ids[3]]);
    expect(idsOf(await list({ event: 'CONTACT_DELETED', status: 'SUCCEEDED' }))).toEqual([]);
    const { eventId, createdAt } = await read(ids[1]!);
    expect(idsOf(await list({ eventId }))).toEqual([ids[1]]);
    expect(idsOf(await list({ eventId, status: 'SUCCEEDED' }))).toEqual([]);
    expect(idsOf(await list({ createdAfter: createdAt }))).toEqual(ids.slice(0, 2));
    expect(idsOf(await list({ createdBefore: createdAt }))).toEqual(ids.slice(2));
    const first = await list({ limit: '3' });
    expect([idsOf(first), first.hasMore]).toEqual([ids.slice(0, 3), true]);
    expect(idsOf(await list({ limit: '3', startAt: first.startAt! }))).toEqual(ids.slice(3));
    expect((await read(ids[0]!)).body).toBe(somePayload('CONTACT_CREATED'));
  });

  it('W10, G3: are refused for an empty period', async () => {
    const query = { createdAfter: '2030-01-02', createdBefore: '2030-01-02' };
    expect((await ask(query)).body).toMatchObject({ statusCode: 400 });
    const yesterday = new Date(Date.now() - DAY_MS).toISOString();
    expect((await ask({ createdAfter: yesterday })).status).toBe(200);
  });

  it('W10, G3: are those of the webhook in the path, and of no other', async () => {
    const id = await add();
    const answer = await stack
      .api()
      .post('/v1/webhooks', { url: stack.receiver.url('/other'), events: ['CONTACT_DELETED'] });
    const other = (answer.body['webhook'] as { id: string }).id;
    const elsewhere = await stack.api().get(`/v1/webhooks/${other}/deliveries/${id}`);
    expect([elsewhere.status, elsewhere.body['message']]).toEqual([
      404,
      'There is no delivery with this id in this workspace',
    ]);
    await stack.api().request('DELETE', `/v1/webhooks/${webhook}`, undefined);
    expect((await ask()).body['message']).toBe('There is no webhook with this id in this workspace');
    expect(
      await stack.count('SELECT count(*)::int FROM webhook_deliveries WHERE webhook_id = $1', [
        uuidOf(webhook),
      ]),
    ).toBe(1);
  });
});
