import { beforeEach, describe, expect, it } from '@jest/globals';
import { uuidOf, type WebhookId } from '@posthorn/kernel';
import { addDelivery } from './deliveries.ts';
import { subscribe } from './receiving.ts';
import { Stack, until, takesAll } from './stack.ts';
import { DAY_MS, fromNow } from './times.ts';

interface Recovery {
  readonly id: string;
  readonly status: string;
  readonly since: string;
  readonly until: string;
}

const stack = Stack.forTests({ receives: takesAll });
let webhook: WebhookId;
let path: string;
let hooks = 0;
beforeEach(async () => {
  path = `/recovered-${(hooks += 1)}`;
  webhook = (await subscribe(stack, stack.receiver.url(path))).id;
});

const recover = (body: object) => stack.api().post(`/v1/webhooks/${webhook}/recover`, body);
const read = async (id: string): Promise<Recovery> => {
  const key = stack.tenant.keys.viewer;
  const answer = await stack.api().get(`/v1/webhooks/${webhook}/recoveries/${id}`, { key });
  return answer.body['recovery'] as Recovery;
};
const add = (wanted: Parameters<typeof addDelivery>[3] = {}) =>
  addDelivery(stack, stack.tenant.workspaceId, webhook, wanted);

/** Runs `work` while recoveries cannot proceed. */
async function whileHeld(work: () => Promise<void>): Promise<void> {
  const client = await stack.database.pool.connect();
  try {
    await client.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0');
    await client.query('SELECT FROM webhooks WHERE id = $1 FOR NO KEY UPDATE', [uuidOf(webhook)]);
    await work();
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

describe('A recovery', () => {
  it('W10: sends all deliveries again that failed since a time, and reports its progress', async () => {
    const atMs = Date.now() - DAY_MS;
    const before = await add({ atMs: atMs - 60_000 });
    const failed = [await add({ atMs }), await add({ atMs: atMs + 1_000 })];
    const fine = await add({ status: 'SUCCEEDED' });
    const answer = await recover({ since: new Date(atMs).toISOString() });
    expect([answer.status, answer.body['recovery']]).toMatchObject([
      200,
      { id: expect.stringMatching(/^rcv_/), webhookId: webhook, since: new Date(atMs).toISOString() },
    ]);
    const { id } = answer.body['recovery'] as Recovery;
    await until(async () => (await read(id)).status === 'COMPLETED', 'it is completed');
    expect(await read(id)).toMatchObject({ total: 2, done: 2, finishedAt: expect.any(String) });
    await until(() => stack.receiver.postsTo(path).length === 2, 'both are posted');
    const posted = stack.receiver.postsTo(path).map(({ headers }) => headers['x-service-delivery-id']);
    expect(posted.sort()).toEqual(failed.sort());
    for (const one of [before, fine]) expect(posted).not.toContain(one);
  });

  it('W10: requested again while it runs is the same one; another period is 409', async () => {
    const since = fromNow(-DAY_MS);
    let id = '';
    await whileHeld(async () => {
      const begun = (await recover({ since })).body['recovery'] as Recovery;
      ({ id } = begun);
      for (const body of [{ since }, { since, until: begun.until }, { since, until: fromNow(DAY_MS) }])
        expect((await recover(body)).body['recovery']).toMatchObject({ id });
      const other = await recover({ since: fromNow(-2 * DAY_MS) });
      expect([other.status, other.body['message']]).toEqual([409, expect.stringContaining(id)]);
    });
    await until(async () => (await read(id)).status === 'COMPLETED', 'it is completed');
    expect((await recover({ since: fromNow(-2 * DAY_MS) })).status).toBe(200);
  });

  it('W10: is not one that ends earlier than what is requested while it runs', async () => {
    const [since, earlier] = [fromNow(-DAY_MS), fromNow(-DAY_MS / 2)];
    await whileHeld(async () => {
      expect((await recover({ since, until: earlier })).status).toBe(200);
      for (const body of [{ since }, { since, until: fromNow(DAY_MS) }])
        expect([body, (await recover(body)).status]).toEqual([body, 409]);
    });
  });

  it('W9, W10: of a disabled webhook makes its deliveries due, and they are posted once it is active again', async () => {
    const ids = [await add(), await add()];
    await stack.database.pool.query(`UPDATE webhooks SET status = 'DISABLED' WHERE id = $1`, [
      uuidOf(webhook),
    ]);
    await stack.database.pool.query(
      `INSERT INTO paused_lanes (queue, lane_id, reason) VALUES ('webhook', $1, 'gone')`,
      [webhook],
    );
    const { id } = (await recover({ since: fromNow(-DAY_MS) })).body['recovery'] as Recovery;
    await until(async () => (await read(id)).status === 'COMPLETED', 'it is completed');
    expect(await read(id)).toMatchObject({ total: 2, done: 2 });
    expect(stack.receiver.postsTo(path)).toEqual([]);
    await stack.api().post(`/v1/webhooks/${webhook}`, { status: 'ACTIVE' });
    await until(() => stack.receiver.postsTo(path).length >= 2, 'both are posted');
    const posted = stack.receiver.postsTo(path).map(({ headers }) => headers['x-service-delivery-id']);
    expect(posted.sort()).toEqual(ids.sort());
  });

  it.each([
    [{}, '`since` is missing; give a day, as in `2030-01-31`, or a date, a time and an offset'],
    [{ since: 5 }, '`since` is a number; give a day, as in `2030-01-31`, or a date, a time and an offset'],
    [{ since: '2999-01-01' }, '`since` is not in the past'],
    [{ since: '2025-01-02', until: '2025-01-02' }, '`until` is not later than `since`'],
    [{ since: '2025-01-02', until: '2025-01-01' }, '`until` is not later than `since`'],
  ])('W10, G3: with an invalid time is refused: %j', async (body, fault) => {
    const answer = await recover(body);
    expect([answer.status, answer.body['message']]).toEqual([400, expect.stringContaining(fault)]);
    expect(await stack.count('SELECT count(*)::int FROM webhook_recoveries WHERE since > now()')).toBe(0);
  });
});
