import { describe, expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { uuidOf, type WebhookId } from '@posthorn/kernel';
import { EVENT_EMAIL } from '@posthorn/domain';
import type { ReceivedPost } from '@posthorn/testing';
import { type CreatedWebhook, subscribe } from './receiving.ts';
import { newRecipient, Stack, until, takesAll } from './stack.ts';

const stack = Stack.forTests({ receives: takesAll, env: { WEBHOOK_DEADLINE_MS: '10000' } });

interface Hook extends CreatedWebhook {
  readonly path: string;
}

let hooks = 0;

async function newHook(events?: string[]): Promise<Hook> {
  const path = `/hook-${(hooks += 1)}`;
  return { ...(await subscribe(stack, stack.receiver.url(path), { events })), path };
}

const change = (id: WebhookId, body: object) => stack.api().post(`/v1/webhooks/${id}`, body);
const createContact = (email = newRecipient()) => stack.api().post('/v1/contacts', { email });
const arrived = (path: string, count: number) =>
  until(() => stack.receiver.postsTo(path).length >= count, `${count} POSTs to ${path}`);
const deliveriesOf = async (id: WebhookId) => {
  const { rows } = await stack.database.pool.query<{ id: string; status: string; attempts: number }>(
    'SELECT id, status, attempts FROM webhook_deliveries WHERE webhook_id = $1 ORDER BY id',
    [uuidOf(id)],
  );
  return rows;
};
const recorded = (id: WebhookId, status: string, count = 1) =>
  until(
    async () => (await deliveriesOf(id)).filter((one) => one.status === status).length >= count,
    `${count} deliveries of ${id} are ${status}`,
  );
/** Makes deliveries due that wait for their next attempt, but not claimed ones. */
const dueNow = (id: WebhookId) =>
  stack.database.pool.query(`UPDATE outbox SET due_at = now() WHERE lane_id = $1 AND state = 'waiting'`, [
    id,
  ]);
const isSlow = async (id: WebhookId) =>
  (await stack.count('SELECT count(*)::int FROM slow_lanes WHERE lane_id = $1', [id])) === 1;
const hmac = (token: string, text: string | Buffer, encoding: 'hex' | 'base64') =>
  createHmac('sha256', token).update(text).digest(encoding);
const eventOf = (post: ReceivedPost) => String(post.headers['x-service-event-id']);

describe('An event', () => {
  it('W5, W6: is posted to its webhook, signed in both ways', async () => {
    const hook = await newHook();
    const email = newRecipient();
    await createContact(email);
    await arrived(hook.path, 1);
    const [{ headers, body }] = stack.receiver.postsTo(hook.path) as [ReceivedPost];
    expect(JSON.parse(body.toString())).toMatchObject({
      event: 'CONTACT_CREATED',
      data: { contact: { email, workspaceId: stack.tenant.workspaceId } },
    });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-service-event': 'CONTACT_CREATED',
      'x-service-event-id': expect.stringMatching(/^evt_[0-9a-z]{26}$/),
      'x-service-delivery-id': expect.stringMatching(/^dlv_[0-9a-z]{26}$/),
      'x-service-attempt': '1',
      'x-service-signature': hmac(hook.token, body, 'hex'),
      'webhook-id': headers['x-service-event-id'],
    });
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body.toString()}`;
    expect(headers['webhook-signature']).toBe(`v1,${hmac(hook.token, signed, 'base64')}`);
    expect(Math.abs(Date.now() / 1_000 - Number(headers['webhook-timestamp']))).toBeLessThan(30);
    await recorded(hook.id, 'SUCCEEDED');
  });

  it('W9: is posted once to each webhook that was subscribed, and not to a deleted one', async () => {
    const [one, other, deaf, gone] = [
      await newHook(),
      await newHook(['CONTACT_DELETED', 'CONTACT_CREATED']),
      await newHook(['CONTACT_DELETED']),
      await newHook(),
    ];
    await stack.api().request('DELETE', `/v1/webhooks/${gone.id}`, undefined);
    for (let n = 0; n < 20; n += 1) await createContact();
    await Promise.all([recorded(one.id, 'SUCCEEDED', 20), recorded(other.id, 'SUCCEEDED', 20)]);
    for (const { path } of [one, other])
      expect(new Set(stack.receiver.postsTo(path).map(eventOf)).size).toBe(
        stack.receiver.postsTo(path).length,
      );
    expect(stack.receiver.postsTo(one.path)).toHaveLength(20);
    expect(stack.receiver.postsTo(deaf.path)).toEqual([]);
    expect(stack.receiver.postsTo(gone.path)).toEqual([]);
  });

  it('W8: is posted again with the same id after a refusal, 5 s later, and its attempts are kept', async () => {
    const hook = await newHook();
    const askedAt: number[] = [];
    stack.receiver.answer = ({ path, headers }) => {
      if (path === hook.path) askedAt.push(performance.now());
      return { status: path === hook.path && headers['x-service-attempt'] === '1' ? 503 : 200 };
    };
    await createContact();
    await recorded(hook.id, 'SUCCEEDED');
    expect(askedAt[1]! - askedAt[0]!).toBeGreaterThan(3_500);
    const posts = stack.receiver.postsTo(hook.path);
    expect(posts.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2']);
    expect(new Set(posts.map(eventOf)).size).toBe(1);
    expect(posts[1]!.body.equals(posts[0]!.body)).toBe(true);
    const [delivery] = await deliveriesOf(hook.id);
    const { rows } = await stack.database.pool.query(
      'SELECT number, status_code, error_class FROM webhook_attempts WHERE delivery_id = $1 ORDER BY number',
      [delivery!.id],
    );
    expect(rows).toEqual([
      { number: 1, status_code: 503, error_class: 'http' },
      { number: 2, status_code: 200, error_class: null },
    ]);
  });
});

describe('An email', () => {
  it('W12: is reported to webhooks at each change of state, as the API shows it', async () => {
    const hook = await newHook(['EMAIL_SENT']);
    const sent = await stack.send({ groupBy: 'welcome', subject: 'Zoë “says” hi' });
    const email = sent.body['email'] as Record<string, unknown>;
    // With a field that is not sent here, nothing would show whether the event has it.
    expect(new Set(Object.keys({ ...email, template: '' }))).toEqual(
      new Set(Object.keys(EVENT_EMAIL.schema['properties']!)),
    );
    await arrived(hook.path, 1);
    const [{ headers, body }] = stack.receiver.postsTo(hook.path) as [ReceivedPost];
    expect(headers['x-service-event']).toBe('EMAIL_SENT');
    expect(JSON.parse(body.toString())).toEqual({
      event: 'EMAIL_SENT',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: { email },
    });
    expect(body.toString()).not.toMatch(/[:,] "/);
  });
});

describe('A webhook', () => {
  it('W9: that is paused gets its events when it is active again, with the token and URL of that time', async () => {
    const hook = await newHook();
    await change(hook.id, { status: 'PAUSED' });
    for (let n = 0; n < 3; n += 1) await createContact();
    await until(async () => (await deliveriesOf(hook.id)).length === 3, 'the deliveries are made');
    await sleep(1_000);
    expect(stack.receiver.postsTo(hook.path)).toEqual([]);
    await change(hook.id, { status: 'ACTIVE', url: stack.receiver.url('/moved'), token: 'another-token' });
    await recorded(hook.id, 'SUCCEEDED', 3);
    expect(stack.receiver.postsTo(hook.path)).toEqual([]);
    for (const { headers, body } of stack.receiver.postsTo('/moved'))
      expect(headers['x-service-signature']).toBe(hmac('another-token', body, 'hex'));
  });

  it('W6: whose token is changed gets signatures of both tokens for a day', async () => {
    const hook = await newHook();
    await change(hook.id, { token: 'the-second-token' });
    await createContact();
    await arrived(hook.path, 1);
    const [{ headers, body }] = stack.receiver.postsTo(hook.path) as [ReceivedPost];
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body.toString()}`;
    const signatures = ['the-second-token', hook.token].map((token) => `v1,${hmac(token, signed, 'base64')}`);
    expect(headers['webhook-signature']).toBe(signatures.join(' '));
    expect(headers['x-service-signature']).toBe(hmac('the-second-token', body, 'hex'));

    const sql = `UPDATE webhooks SET previous_token_until = now() WHERE id = $1`;
    await stack.database.pool.query(sql, [uuidOf(hook.id)]);
    await createContact();
    await arrived(hook.path, 2);
    expect(stack.receiver.postsTo(hook.path)[1]!.headers['webhook-signature']).toMatch(/^v1,\S+$/);
  });

  it('W6: whose token is rotated gets signatures of both during the overlap, and of the new one only without it', async () => {
    const hook = await newHook();
    const rotate = async (body: object): Promise<{ token: string; previousTokenUntil: string | null }> => {
      const { status, body: answer } = await stack.api().post(`/v1/webhooks/${hook.id}/rotate-token`, body);
      expect(status).toBe(200);
      const { token } = answer['webhook'] as { token: string };
      return { token, previousTokenUntil: answer['previousTokenUntil'] as string | null };
    };
    const posted = async (count: number): Promise<ReceivedPost> => {
      await createContact();
      await arrived(hook.path, count);
      return stack.receiver.postsTo(hook.path)[count - 1]!;
    };
    const expectSignedBy = ({ headers, body }: ReceivedPost, tokens: readonly string[]): void => {
      const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body.toString()}`;
      const signatures = tokens.map((token) => `v1,${hmac(token, signed, 'base64')}`);
      expect(headers['webhook-signature']).toBe(signatures.join(' '));
      expect(headers['x-service-signature']).toBe(hmac(tokens[0]!, body, 'hex'));
    };
    const second = await rotate({ overlapSeconds: 600 });
    expect(second.token).toMatch(/^wht_/);
    expect(Date.parse(second.previousTokenUntil!)).toBeGreaterThan(Date.now() + 500_000);
    expectSignedBy(await posted(1), [second.token, hook.token]);
    expect(await rotate({ token: 'the-third-token' })).toMatchObject({ token: 'the-third-token' });
    expectSignedBy(await posted(2), ['the-third-token', second.token]);
    const fourth = await rotate({ overlapSeconds: 0 });
    expect(fourth.previousTokenUntil).toBeNull();
    expectSignedBy(await posted(3), [fourth.token]);
  });

  it('W8, W10: whose receiver answers 410 is disabled at once, editors are notified, and it gets all events when it is active again', async () => {
    const hook = await newHook();
    stack.receiver.answer = ({ path }) => ({ status: path === hook.path ? 410 : 200 });
    for (let n = 0; n < 3; n += 1) await createContact();
    await until(async () => {
      const shown = await stack.api().get(`/v1/webhooks/${hook.id}`);
      return (shown.body['webhook'] as { status: string }).status === 'DISABLED';
    }, 'the webhook is disabled');
    await until(async () => (await deliveriesOf(hook.id)).length === 3, 'the deliveries are made');
    const taken = `SELECT count(*)::int FROM outbox WHERE lane_id = $1 AND state = 'taken'`;
    await until(async () => (await stack.count(taken, [hook.id])) === 0, 'none is under way');
    const posted = stack.receiver.postsTo(hook.path).length;
    await sleep(1_500);
    expect(stack.receiver.postsTo(hook.path)).toHaveLength(posted);
    stack.receiver.answer = () => ({ status: 204 });
    await change(hook.id, { status: 'ACTIVE' });
    await recorded(hook.id, 'SUCCEEDED', 3);
  });

  it('W9: that was disabled gets what waits for a retry when it is active again, not minutes or hours later', async () => {
    const hook = await newHook();
    let status = 500;
    stack.receiver.answer = ({ path }) => ({ status: path === hook.path ? status : 200 });
    const attempts = async () => (await deliveriesOf(hook.id))[0]?.attempts ?? 0;
    await createContact();
    await until(async () => (await attempts()) === 1, 'the first attempt');
    await dueNow(hook.id);
    await until(
      async () => (await attempts()) === 2,
      'the second attempt, with five minutes until the third',
    );
    status = 410;
    await createContact();
    await until(async () => {
      const shown = await stack.api().get(`/v1/webhooks/${hook.id}`);
      return (shown.body['webhook'] as { status: string }).status === 'DISABLED';
    }, 'the webhook is disabled');
    status = 204;
    await change(hook.id, { status: 'ACTIVE' });
    await recorded(hook.id, 'SUCCEEDED', 2);
  });

  it('whose receiver hangs delays no other, and is served quickly again when it answers', async () => {
    const [dead, well] = [await newHook(), await newHook()];
    stack.receiver.answer = ({ path }) => ({ status: 200, afterMs: path === dead.path ? 60_000 : 0 });
    for (let n = 0; n < 30; n += 1) await createContact();
    await until(() => isSlow(dead.id), 'the lane is slow');
    await recorded(well.id, 'SUCCEEDED', 30);
    stack.receiver.answer = () => ({ status: 200 });
    await until(async () => {
      // Repeatedly: deliveries in flight still time out, and would then wait for minutes.
      await dueNow(dead.id);
      return (await deliveriesOf(dead.id)).filter(({ status }) => status === 'SUCCEEDED').length === 30;
    }, 'all that waited is delivered');
    await until(async () => {
      if (!(await isSlow(dead.id))) return true;
      // The last answer may have been late, too, if the machine was suspended.
      await createContact();
      return false;
    }, 'the lane is quick');
  });

  it('has its URL in no log line', () => {
    expect(stack.logs).not.toContain('/hook-');
    expect(stack.logs).not.toContain('@receiver.example');
  });
});
