import { beforeEach, describe, expect, it } from '@jest/globals';
import { idFromUuid, newId, sleep, uuidOf, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import { operator, type Recovery, webhookLane } from '@posthorn/domain';
import { DeliveryTestStores } from './deliveries.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { runOutOfTimeBeyond } from '../../run-out-of-time.fixture.ts';
import { PUT_BACK_DELIVERY } from '../../sql/delivery-changes.ts';
import { DeliveryChanges } from './delivery-changes.ts';
import { RecoveryStore } from './recovery-store.ts';
import { UpkeepStore } from '../retention/upkeep-store.ts';

const ALL_AT_ONCE = { looked: 1_000, ready: 1_000 };
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const stores = await openTestStores();
const deliveryStores = new DeliveryTestStores(stores);
const recoveries = new RecoveryStore(stores.database);
let acme: WorkspaceId;
let webhook: WebhookId;

beforeEach(async () => {
  await stores.ask('DELETE FROM webhook_recoveries');
  acme = await stores.openWorkspace();
  webhook = await deliveryStores.addWebhook(acme);
});

/** Failed deliveries: of every four, three are exhausted, and one waits for its next attempt. */
async function fail(count: number, workspaceId = acme, webhookId = webhook): Promise<void> {
  await deliveryStores.record(workspaceId, count);
  await deliveryStores.fanOut(workspaceId);
  const claimed = await deliveryStores.claim(webhookId, count);
  await deliveryStores.deliveries.record(
    claimed.map((delivery, index) =>
      index % 4 === 3
        ? deliveryStores.failed(delivery, { retryAfterMs: HOUR_MS })
        : deliveryStores.failed(delivery, { status: 'EXHAUSTED', retryAfterMs: null }),
    ),
  );
}
const begin = (
  change: Partial<Record<'since' | 'until', Date>> = {},
  workspaceId = acme,
  webhookId = webhook,
) =>
  recoveries.begin(workspaceId, operator('test'), webhookId, {
    id: newId('rcv', Date.now()),
    since: new Date(Date.now() - HOUR_MS),
    until: new Date(Date.now() + MINUTE_MS),
    ...change,
  });
const shown = ({ id }: Recovery) => recoveries.find(acme, webhook, id);
const ready = () => stores.count('outbox', `lane_id = $1 AND state = 'ready'`, [webhookLane(webhook)]);
async function recoverAll(bounds = ALL_AT_ONCE): Promise<void> {
  for (let group: number | undefined = 0; group !== undefined;) group = await recoveries.recoverGroup(bounds);
}

describe('A recovery', () => {
  it('W10: makes exhausted and retrying deliveries due, and does not change others', async () => {
    await fail(8);
    await deliveryStores.record(acme, 2);
    await deliveryStores.fanOut(acme);
    const [succeeded] = await deliveryStores.claim(webhook, 1);
    await deliveryStores.deliveries.record([deliveryStores.outcome(succeeded!)]);
    const begun = await begin();
    expect(begun).toMatchObject({ state: 'COUNTING', total: 0, done: 0, webhookId: webhook });
    await recoverAll();
    expect(await shown(begun!)).toMatchObject({ state: 'COMPLETED', total: 8, done: 8 });
    expect(await ready()).toBe(9);
    expect(await stores.count('outbox', 'lane_id = $1 AND due_at > now()', [webhookLane(webhook)])).toBe(0);
    const statuses = await stores.ask<{ status: string; count: number }>(
      'SELECT status, count(*)::int FROM webhook_deliveries WHERE webhook_id = $1 GROUP BY status ORDER BY status',
      [uuidOf(webhook)],
    );
    expect(statuses).toEqual([
      { status: 'PENDING', count: 9 },
      { status: 'SUCCEEDED', count: 1 },
    ]);
    // All of them have all their retries again.
    expect((await deliveryStores.claim(webhook)).map(({ attempts }) => attempts)).toEqual(Array(9).fill(0));
  });

  it('W10: includes only the requested period', async () => {
    await fail(4);
    const begun = await begin({ until: new Date(Date.now() - MINUTE_MS) });
    await recoverAll();
    expect(await shown(begun!)).toMatchObject({ state: 'COMPLETED', total: 0, done: 0 });
    expect(await ready()).toBe(0);
  });

  it('W10: goes on with a smaller group when one times out, so that it does not delay all recoveries', async () => {
    await fail(160);
    const begun = await begin();
    const inTimeAgain = await runOutOfTimeBeyond(stores, 50, 'INSERT', 'outbox');
    try {
      const bounds = { looked: 160, ready: 1_000 };
      while ((await shown(begun!))!.state === 'COUNTING') await recoveries.recoverGroup(bounds);
      const done = await recoveries.recoverGroup(bounds);
      expect(done).toBeGreaterThan(0);
      expect(await shown(begun!)).toMatchObject({ state: 'RUNNING', total: 160, done });
    } finally {
      await inTimeAgain();
    }
  });

  it('W10: proceeds one group at a time, and waits while too many deliveries of the webhook are due', async () => {
    await fail(20);
    const begun = await begin();
    const bounds = { looked: 4, ready: 6 };
    await recoverAll(bounds);
    expect(await shown(begun!)).toMatchObject({ state: 'RUNNING', total: 20, done: 8 });
    expect(await ready()).toBe(8);
    await deliveryStores.claim(webhook, 8);
    await recoverAll(bounds);
    expect(await shown(begun!)).toMatchObject({ state: 'RUNNING', done: 16 });
    await deliveryStores.claim(webhook, 8);
    await recoverAll(bounds);
    expect(await shown(begun!)).toMatchObject({ state: 'COMPLETED', done: 20, finishedAt: expect.any(Date) });
  });

  it('W10: is counted although too many deliveries of the webhook are due', async () => {
    await fail(4);
    const begun = await begin();
    await recoverAll({ looked: 10, ready: 0 });
    expect(await shown(begun!)).toMatchObject({ state: 'RUNNING', total: 4, done: 0 });
  });

  it('W10: proceeds by turns with those of other webhooks', async () => {
    const other = await stores.openWorkspace();
    const otherWebhook = await deliveryStores.addWebhook(other);
    await fail(8);
    await fail(8, other, otherWebhook);
    const first = await begin();
    const second = await begin({}, other, otherWebhook);
    for (let groups = 0; groups < 2; groups += 1) await recoveries.recoverGroup({ looked: 4, ready: 10 });
    expect(await shown(first!)).toMatchObject({ total: 4 });
    expect(await recoveries.find(other, otherWebhook, second!.id)).toMatchObject({ total: 4 });
  });

  it('W10: is executed once by several processes concurrently', async () => {
    await fail(60);
    const begun = await begin();
    await Promise.all([1, 2, 3, 4].map(() => recoverAll({ looked: 5, ready: 1_000 })));
    await recoverAll({ looked: 5, ready: 1_000 });
    expect(await shown(begun!)).toMatchObject({ state: 'COMPLETED', total: 60, done: 60 });
    expect(await ready()).toBe(60);
  });

  it.each([
    ['it', () => recoveries.recoverGroup(ALL_AT_ONCE)],
    ['a re-activation', () => new UpkeepStore(stores.database).putBackDeliveries(1_000)],
  ])(
    'W10: does not send a delivery again that was sent again by hand, and succeeded, while %s waited',
    async (_, makeDue) => {
      await fail(3);
      const [first, second] = await stores.ask<{ id: string }>(
        'SELECT id FROM webhook_deliveries WHERE webhook_id = $1 ORDER BY id',
        [uuidOf(webhook)],
      );
      const changes = new DeliveryChanges(stores.database);
      const sendAgain = (id: string) =>
        changes.sendAgain(acme, operator('test'), webhook, idFromUuid('dlv', id));
      await begin();
      // Counts them.
      await recoveries.recoverGroup(ALL_AT_ONCE);
      await stores.ask('UPDATE webhooks SET put_back_before = CASE WHEN id = $1 THEN now() END', [
        uuidOf(webhook),
      ]);
      // The first one is made due by hand, but this is not committed before the audit log can be written.
      const holding = await stores.database.pool.connect();
      await holding.query('BEGIN; LOCK TABLE audit_log IN SHARE ROW EXCLUSIVE MODE');
      const byHand = sendAgain(first!.id);
      await stores.untilWaiting();
      let isOver = false;
      const again = makeDue().finally(() => (isOver = true));
      while (!isOver && (await stores.countWaiting()) < 2) await sleep(5);
      await stores.ask(PUT_BACK_DELIVERY, [second!.id]);
      const [claimed] = await deliveryStores.claim(webhook);
      await deliveryStores.deliveries.record([deliveryStores.outcome(claimed!)]);
      await holding.query('COMMIT');
      holding.release();
      expect(await byHand).toBe('put_back');
      await again;
      await recoverAll();
      const [status] = await stores.ask('SELECT status FROM webhook_deliveries WHERE id = $1', [second!.id]);
      expect(status).toEqual({ status: 'SUCCEEDED' });
    },
  );

  it.each([
    ['a recovery', () => recoveries.recoverGroup(ALL_AT_ONCE)],
    ['a re-activation', () => new UpkeepStore(stores.database).putBackDeliveries(1_000)],
  ])('W10: %s leaves out a delivery that is being removed at that moment', async (_, makeDue) => {
    await fail(2);
    await begin();
    // Counts them.
    await recoveries.recoverGroup(ALL_AT_ONCE);
    await stores.ask('UPDATE webhooks SET put_back_before = CASE WHEN id = $1 THEN now() END', [
      uuidOf(webhook),
    ]);
    const [first] = await stores.ask<{ id: string }>(
      'SELECT id FROM webhook_deliveries WHERE webhook_id = $1 ORDER BY id LIMIT 1',
      [uuidOf(webhook)],
    );
    const removing = await stores.database.pool.connect();
    await removing.query('BEGIN');
    await removing.query('SELECT FROM webhook_deliveries WHERE id = $1 FOR UPDATE', [first!.id]);
    const again = makeDue();
    await Promise.race([again, stores.untilWaiting()]);
    await removing.query('DELETE FROM webhook_deliveries WHERE id = $1', [first!.id]);
    await removing.query('COMMIT');
    removing.release();
    await again;
    expect(await stores.count('outbox', 'subject_id = $1', [first!.id])).toBe(0);
    expect(await ready()).toBe(1);
  });

  it('W10: is the only one of its webhook, however often it is requested concurrently', async () => {
    const all = await Promise.all([1, 2, 3, 4].map(() => begin()));
    expect(new Set(all.map((one) => one!.id)).size).toBe(1);
    expect(await stores.count('audit_log', `subject_id = $1`, [webhook])).toBe(1);
    await recoverAll();
    expect((await begin())!.id).not.toBe(all[0]!.id);
  });

  it('W10, G3: is not found from another workspace, and is deleted with its webhook', async () => {
    expect(await begin({}, await stores.openWorkspace())).toBeUndefined();
    const begun = await begin();
    await stores.ask('DELETE FROM webhooks WHERE id = $1', [uuidOf(webhook)]);
    expect(await shown(begun!)).toBeUndefined();
    expect(await recoveries.recoverGroup(ALL_AT_ONCE)).toBeUndefined();
  });

  it('W10, G3: is not begun for a webhook that is just being deleted', async () => {
    const deleting = await stores.database.pool.connect();
    await deleting.query('BEGIN');
    await deleting.query('SELECT FROM workspaces WHERE id = $1 FOR NO KEY UPDATE', [uuidOf(acme)]);
    await deleting.query('DELETE FROM webhooks WHERE id = $1', [uuidOf(webhook)]);
    const begun = begin();
    await stores.untilWaiting();
    await deleting.query('COMMIT');
    deleting.release();
    expect(await begun).toBeUndefined();
  });

  it('is deleted long after it was completed, and not before', async () => {
    const begun = await begin();
    await recoverAll();
    await stores.ask(`UPDATE webhook_recoveries SET finished_at = now() - interval '91 days'`);
    const later = await begin();
    await recoverAll();
    expect(await recoveries.forget(90)).toBe(1);
    expect([await shown(begun!), await shown(later!)]).toMatchObject([undefined, { state: 'COMPLETED' }]);
  });
});
