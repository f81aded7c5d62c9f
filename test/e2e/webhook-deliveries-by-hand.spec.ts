import { beforeEach, describe, expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { type DeliveryId, uuidOf } from '@posthorn/kernel';
import type { ReceivedPost } from '@posthorn/testing';
import { addDelivery, somePayload } from './deliveries.ts';
import { type CreatedWebhook, subscribe } from './receiving.ts';
import { newRecipient, Stack, until, takesAll } from './stack.ts';

interface Shown {
  readonly id: DeliveryId;
  readonly status: string;
  readonly isTest: boolean;
  readonly body: string;
  readonly attempts: readonly { readonly number: number; readonly statusCode: number }[];
}

const stack = Stack.forTests({ receives: takesAll });
let webhook: CreatedWebhook;
let path: string;
let hooks = 0;
beforeEach(async () => {
  stack.receiver.answer = () => ({ status: 200 });
  path = `/by-hand-${(hooks += 1)}`;
  webhook = await subscribe(stack, stack.receiver.url(path));
});

const redeliver = (id: string) =>
  stack.api().request('POST', `/v1/webhooks/${webhook.id}/deliveries/${id}/redeliver`, undefined);
const test = (body: object) => stack.api().post(`/v1/webhooks/${webhook.id}/test`, body);
const read = async (id: string): Promise<Shown> =>
  (await stack.api().get(`/v1/webhooks/${webhook.id}/deliveries/${id}`)).body['delivery'] as Shown;
const posts = () => stack.receiver.postsTo(path);
const add = (wanted: Parameters<typeof addDelivery>[3] = {}) =>
  addDelivery(stack, stack.tenant.workspaceId, webhook.id, wanted);
const becomes = (id: string, status: string) =>
  until(async () => (await read(id)).status === status, `${id} is ${status}`);
/** Waits until it has failed and waits for its retry, which comes tomorrow then, however slow the machine is. */
const putOff = (id: string) =>
  until(async () => {
    const sql = `UPDATE outbox SET due_at = now() + interval '1 day' WHERE subject_id = $1 AND state = 'waiting'`;
    return (await stack.database.pool.query(sql, [uuidOf(id as DeliveryId)])).rowCount === 1;
  }, `${id} waits for its retry`);

describe('A delivery', () => {
  it.each(['EXHAUSTED', 'SUCCEEDED', 'EXPIRED'] as const)(
    'W10: that is %s is posted again on request, with the same ids and bytes',
    async (status) => {
      const id = await add({ status });
      const answer = await redeliver(id);
      expect([answer.status, answer.body['delivery']]).toMatchObject([200, { id }]);
      await becomes(id, 'SUCCEEDED');
      const [post] = posts();
      expect(post!.headers).toMatchObject({ 'x-service-delivery-id': id, 'x-service-attempt': '2' });
      expect(post!.body.toString()).toBe(somePayload('CONTACT_CREATED'));
      expect((await read(id)).attempts).toMatchObject([
        { number: 1, statusCode: status === 'SUCCEEDED' ? 204 : 500 },
        { number: 2, statusCode: 200 },
      ]);
      const log = await stack.api().get(`/v1/audit-log?subjectId=${webhook.id}&action=webhook.redelivered`, {
        key: stack.tenant.keys.editor,
      });
      expect(log.body['auditLog']).toMatchObject({ items: [{ detail: { deliveryId: id } }] });
    },
  );

  it('W10: that waits for its retry is posted now', async () => {
    stack.receiver.answer = () => ({ status: 500 });
    await stack.api().post('/v1/contacts', { email: newRecipient() });
    await until(() => posts().length > 0, 'the first attempt');
    const id = String(posts()[0]!.headers['x-service-delivery-id']);
    await putOff(id);
    stack.receiver.answer = () => ({ status: 200 });
    expect((await redeliver(id)).status).toBe(200);
    await becomes(id, 'SUCCEEDED');
  });

  it('W10: that is being posted is not posted a second time: 409', async () => {
    const { promise: after, resolve: goOn } = Promise.withResolvers<void>();
    stack.receiver.answer = () => ({ status: 200, after });
    const id = await add();
    await redeliver(id);
    // Not by what is in flight: that may be the retry of a delivery to the webhook of another test.
    await until(() => posts().length > 0, 'it is being posted');
    const answer = await redeliver(id);
    expect([answer.status, answer.body['message']]).toEqual([
      409,
      expect.stringContaining('being posted right now'),
    ]);
    expect(await read(id)).toMatchObject({ isUnderWay: true, nextAttemptAt: null });
    goOn();
    await becomes(id, 'SUCCEEDED');
    expect(posts()).toHaveLength(1);
  });

  it('W10: of a paused webhook is held until that is active again', async () => {
    await stack.api().post(`/v1/webhooks/${webhook.id}`, { status: 'PAUSED' });
    const id = await add();
    expect((await redeliver(id)).body['delivery']).toMatchObject({ status: 'PENDING' });
    await stack.api().post(`/v1/webhooks/${webhook.id}`, { status: 'ACTIVE' });
    await becomes(id, 'SUCCEEDED');
  });

  it('G3, W10: of a deleted webhook is neither shown nor sent again: 404, and it is not changed', async () => {
    const id = await add({ status: 'SUCCEEDED' });
    await stack.api().request('DELETE', `/v1/webhooks/${webhook.id}`, undefined);
    const shown = await stack.api().get(`/v1/webhooks/${webhook.id}/deliveries/${id}`);
    for (const { status, body } of [await redeliver(id), shown])
      expect([status, body['message']]).toEqual([404, expect.stringContaining('no webhook with this id')]);
    const sql = `SELECT status, attempts, (SELECT count(*)::int FROM outbox WHERE subject_id = d.id) AS due FROM webhook_deliveries d WHERE id = $1`;
    const { rows } = await stack.database.pool.query(sql, [uuidOf(id)]);
    expect(rows).toEqual([{ status: 'SUCCEEDED', attempts: 1, due: 0 }]);
    const log = await stack.api().get(`/v1/audit-log?subjectId=${webhook.id}&action=webhook.redelivered`, {
      key: stack.tenant.keys.editor,
    });
    expect(log.body['auditLog']).toMatchObject({ items: [] });
  });
});

describe('A test', () => {
  it('W10, W5: is posted only to this webhook, signed, and marked in its header', async () => {
    const answer = await test({ event: 'EMAIL_BOUNCED' });
    const delivery = answer.body['delivery'] as Shown;
    expect([answer.status, delivery]).toMatchObject([200, { isTest: true, event: 'EMAIL_BOUNCED' }]);
    await becomes(delivery.id, 'SUCCEEDED');
    const [{ headers, body }] = posts() as [ReceivedPost];
    expect(headers).toMatchObject({
      'x-service-event': 'EMAIL_BOUNCED',
      'x-service-test': 'true',
      'x-service-signature': createHmac('sha256', webhook.token).update(body).digest('hex'),
    });
    expect(Object.keys(JSON.parse(body.toString()) as object)).toEqual(['event', 'createdAt', 'data']);
    expect(delivery.body).toBe(body.toString());
    const elsewhere = stack.receiver.posts.filter((post) => post.headers['x-service-test'] !== undefined);
    expect(elsewhere.every((post) => post.path === path)).toBe(true);
  });

  it('W10: has the answer of the receiver in its delivery', async () => {
    stack.receiver.answer = () => ({ status: 404 });
    const { id } = (await test({})).body['delivery'] as Shown;
    await until(async () => (await read(id)).attempts.length > 0, 'an attempt is recorded');
    expect((await read(id)).attempts[0]).toMatchObject({ statusCode: 404, error: 'http' });
  });

  it('W1, W10: to a forbidden address is not posted, and its delivery says so', async () => {
    const elsewhere = 'http://10.0.0.1/hook';
    const refused = await stack.api().post(`/v1/webhooks/${webhook.id}`, { url: elsewhere });
    expect(refused.status).toBe(400);
    // As if it had been allowed when the webhook was created.
    await stack.database.pool.query('UPDATE webhooks SET url = $2 WHERE id = $1', [
      uuidOf(webhook.id),
      elsewhere,
    ]);
    const answer = await test({});
    expect(answer.status).toBe(200);
    const { id } = answer.body['delivery'] as Shown;
    await putOff(id);
    const { status, attempts } = await read(id);
    expect([status, attempts[0]]).toMatchObject([
      'PENDING',
      { number: 1, statusCode: null, error: 'blocked' },
    ]);
  });

  it('W6, W8: whose token is rotated between two attempts is signed by the new one from then on', async () => {
    stack.receiver.answer = () => ({ status: 500 });
    const { id } = (await test({})).body['delivery'] as Shown;
    await putOff(id);
    const token = 'another-token-of-the-webhook';
    const path = `/v1/webhooks/${webhook.id}/rotate-token`;
    expect((await stack.api().post(path, { token, overlapSeconds: 0 })).status).toBe(200);
    stack.receiver.answer = () => ({ status: 200 });
    expect((await redeliver(id)).status).toBe(200);
    await becomes(id, 'SUCCEEDED');
    const [first, second] = [posts()[0]!, posts().at(-1)!];
    const signed = (key: string, { body }: ReceivedPost) =>
      createHmac('sha256', key).update(body).digest('hex');
    expect(first.headers['x-service-signature']).toBe(signed(webhook.token, first));
    expect(second.headers['x-service-signature']).toBe(signed(token, second));
    expect(second.body.equals(first.body)).toBe(true);
  });
});

it('W3, W4: A webhook whose token cannot be decrypted is shown, says so, and posts what waited once it has another token', async () => {
  const url = `/v1/webhooks/${webhook.id}`;
  const change = (body: object) => stack.api().post(url, body);
  await stack.database.pool.query(`UPDATE webhooks SET token = '\\x0103' || token WHERE id = $1`, [
    uuidOf(webhook.id),
  ]);
  expect(await stack.api().get(url)).toMatchObject({ status: 200, body: { webhook: { token: null } } });
  for (const status of ['PAUSED', 'ACTIVE'])
    expect(await change({ status })).toMatchObject({
      status: 200,
      body: { webhook: { status, token: null } },
    });
  const { id } = (await test({})).body['delivery'] as Shown;
  await putOff(id);
  expect((await read(id)).attempts[0]).toMatchObject({
    error: 'internal',
    reason: expect.stringContaining('give the webhook another token'),
  });
  expect(posts()).toEqual([]);
  const rotated = await stack.api().request('POST', `${url}/rotate-token`, undefined);
  const { token } = rotated.body['webhook'] as { token: string };
  expect((await redeliver(id)).status).toBe(200);
  await becomes(id, 'SUCCEEDED');
  const [{ headers, body }] = posts() as [ReceivedPost];
  expect(headers['x-service-signature']).toBe(createHmac('sha256', token).update(body).digest('hex'));
});
