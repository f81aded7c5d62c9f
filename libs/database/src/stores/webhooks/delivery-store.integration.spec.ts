import { beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { idFromUuid, newUuid, uuidOf, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import { EVERY_LANE, eventLane, operator, type ReceiverObservation, webhookLane } from '@posthorn/domain';
import { DeliveryTestStores } from './deliveries.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { runOutOfTimeBeyond } from '../../run-out-of-time.fixture.ts';
import { NEEDED_DELIVERIES, REMOVE_DELIVERIES } from '../../sql/retention.ts';
import type { DeliveryOutcome } from './claimed-delivery.ts';
import { DeliveryChanges } from './delivery-changes.ts';
import { type NewWebhookNotice, ReceiverHealthStore } from './receiver-health-store.ts';
import { UpkeepStore } from '../retention/upkeep-store.ts';
import { WebhookStore } from './webhook-store.ts';

const stores = await openTestStores();
const deliveryStores = new DeliveryTestStores(stores);
const webhooks = new WebhookStore(stores.database);
const upkeep = new UpkeepStore(stores.database);
let acme: WorkspaceId;
let webhook: WebhookId;

beforeEach(async () => {
  // Leases of earlier tests may have ended by now, and would be revived with those of this one.
  await stores.ask('DELETE FROM outbox');
  acme = await stores.openWorkspace();
  webhook = await deliveryStores.addWebhook(acme);
});

const deliveriesOf = (id: WebhookId) =>
  stores.ask<{ id: string; event_id: string; status: string; attempts: number; finished: boolean }>(
    `SELECT id, event_id, status, attempts, finished_at IS NOT NULL AS finished FROM webhook_deliveries WHERE webhook_id = $1 ORDER BY id`,
    [uuidOf(id)],
  );
const due = (id: WebhookId) => stores.count('outbox', 'lane_id = $1', [webhookLane(id)]);
const dueEvents = () => stores.count('outbox', 'lane_id = $1', [eventLane(acme)]);
const attemptsOf = (delivery: string) =>
  stores.ask(
    `SELECT number, status_code, error_class, reason, headers, body, duration_ms, late FROM webhook_attempts WHERE delivery_id = $1 ORDER BY claims`,
    [delivery],
  );
const webhookRow = async () =>
  (
    await stores.ask<{ status: string; failing: boolean; warned: boolean }>(
      'SELECT status, failing_since IS NOT NULL AS failing, warned_at IS NOT NULL AS warned FROM webhooks WHERE id = $1',
      [uuidOf(webhook)],
    )
  )[0]!;
const noticesOf = () =>
  stores.ask('SELECT kind FROM webhook_notices WHERE webhook_id = $1 ORDER BY created_at', [uuidOf(webhook)]);
const record = (...outcomes: DeliveryOutcome[]) => deliveryStores.deliveries.record(outcomes);
const setStatus = (status: 'ACTIVE' | 'PAUSED') =>
  webhooks.change(acme, operator('test'), webhook, () => ({ status }));
/** Lets the webhook have been failing for a number of days, and its workspace have been warned a number of days ago. */
const failingFor = (days: number, warnedDaysAgo: number | null) =>
  stores.ask(
    `UPDATE webhooks SET failing_since = now() - make_interval(days => $2), warned_at = now() - make_interval(days => $3) WHERE id = $1`,
    [uuidOf(webhook), days, warnedDaysAgo],
  );

describe('Ids that the database generates', () => {
  it('are the same as those that programs generate', async () => {
    for (let n = 0; n < 50; n += 1) {
      const id = newUuid(Date.now() - n * 1e9);
      const [row] = await stores.ask(`SELECT type_id('wh', $1) AS id`, [id]);
      expect(row).toEqual({ id: idFromUuid('wh', id) });
    }
  });

  it('are UUIDs of version 7 with the given time', async () => {
    const event = newUuid(Date.now());
    const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    for (let n = 0; n < 50; n += 1) {
      const [row] = await stores.ask<{ delivery: string }>(`SELECT delivery_id($1, $2) AS delivery`, [
        event,
        newUuid(Date.now()),
      ]);
      expect(row!.delivery).toMatch(pattern);
      expect(row!.delivery.slice(0, 13)).toBe(event.slice(0, 13));
    }
  });

  it('are the same as in all earlier releases', async () => {
    // Otherwise a delivery that a later release creates again would be delivered twice.
    const known = [
      [
        '019aa7c8-2f00-7abc-8def-0123456789ab',
        '019aa7c8-2f00-7abc-8def-ba9876543210',
        '019aa7c8-2f00-7c53-9bab-77a74d55f3e1',
      ],
      [
        '019aa7c8-2f01-7abc-9def-0123456789ab',
        '019aa7c8-2f00-7abc-8def-ba9876543210',
        '019aa7c8-2f01-7a58-891c-a34ee8c5f155',
      ],
      [
        '019aa7c8-2f01-7abc-9def-0123456789ab',
        '019aa7c8-2f00-7abc-8def-ba9876543211',
        '019aa7c8-2f01-7fdd-a2e1-866049b26964',
      ],
    ];
    for (const [event, webhookId, id] of known)
      expect(await stores.ask('SELECT delivery_id($1, $2) AS id', [event, webhookId])).toEqual([{ id }]);
  });
});

describe('Fanning out when it times out', () => {
  it('W9: goes on with fewer events at a time, since the same number would time out again', async () => {
    const inTimeAgain = await runOutOfTimeBeyond(stores, 50, 'INSERT', 'webhook_deliveries');
    try {
      await deliveryStores.record(acme, 120);
      const { lanes, made } = await new DeliveryTestStores(stores).fanOutInto({}, acme);
      expect(made).toBeGreaterThan(0);
      expect(made).toBeLessThan(120);
      expect(lanes).toEqual([{ laneId: eventLane(acme), events: made, hasMore: true }]);
      expect(await dueEvents()).toBe(120 - made);
    } finally {
      await inTimeAgain();
    }
  });
});

describe('Fanning out for a worker with capacity', () => {
  const taken = () => stores.count('outbox', `lane_id = $1 AND state = 'taken'`, [webhookLane(webhook)]);

  it('W9: claims as many deliveries as there is capacity for, with their content, and leaves the others ready', async () => {
    await deliveryStores.record(acme, 5);
    const { claimed, ready, made } = await deliveryStores.fanOutInto({ rows: 3 }, acme);
    expect(made).toBe(5);
    expect(claimed).toHaveLength(3);
    expect(claimed[0]).toMatchObject({ claims: 1, attempts: 0, attemptsMade: 0, event: 'CONTACT_CREATED' });
    expect(claimed[0]).toMatchObject({ workspaceId: acme, webhookId: webhook, laneId: webhookLane(webhook) });
    expect(JSON.parse(claimed[0]!.payload)).toMatchObject({ event: 'CONTACT_CREATED' });
    expect(claimed[0]!.bytes).toBe(Buffer.byteLength(claimed[0]!.payload));
    expect(ready).toEqual([{ laneId: webhookLane(webhook), deliveries: 2, isSlow: false }]);
    expect(await taken()).toBe(3);
    expect(await record(...claimed.map((one) => deliveryStores.outcome(one)))).toEqual([true, true, true]);
    expect(await deliveryStores.claim(webhook)).toHaveLength(2);
  });

  it('W9: claims deliveries exclusively until they are given back or the lease has ended', async () => {
    await deliveryStores.record(acme, 2);
    const { claimed } = await deliveryStores.fanOutInto({}, acme);
    expect(await deliveryStores.claim(webhook)).toEqual([]);
    await stores.outbox.giveBack(claimed);
    const again = await deliveryStores.claim(webhook);
    expect(again.map(({ claims }) => claims)).toEqual([2, 2]);
    expect(await record(deliveryStores.outcome(claimed[0]!), deliveryStores.outcome(again[1]!))).toEqual([
      false,
      true,
    ]);
  });

  it('claims no more bytes than there is capacity for', async () => {
    await deliveryStores.record(acme, 4);
    const { bytes } = (await deliveryStores.fanOutInto({ rows: 1 }, acme, 1)).claimed[0]!;
    expect((await deliveryStores.fanOutInto({ bytes: 2 * bytes }, acme)).claimed).toHaveLength(2);
  });

  it('claims none of a webhook that is paused, slow, or at its limit of claimed deliveries', async () => {
    const others = [
      await deliveryStores.addWebhook(acme),
      await deliveryStores.addWebhook(acme),
      await deliveryStores.addWebhook(acme),
    ];
    await setStatus('PAUSED');
    await stores.ask('INSERT INTO slow_lanes (lane_id) VALUES ($1)', [webhookLane(others[0]!)]);
    await deliveryStores.record(acme, 2);
    const { claimed, ready } = await deliveryStores.fanOutInto(
      { rows: 2, excludedLanes: [webhookLane(others[1]!)] },
      acme,
    );
    expect(claimed.map(({ webhookId }) => webhookId)).toEqual([others[2], others[2]]);
    expect(ready.map(({ deliveries }) => deliveries)).toEqual([2, 2, 2]);
    expect(ready.filter(({ isSlow }) => isSlow).map(({ laneId }) => laneId)).toEqual([
      webhookLane(others[0]!),
    ]);
  });
});

describe('Fanning out', () => {
  it('claims nothing while all webhooks are paused', async () => {
    await deliveryStores.record(acme, 2);
    await stores.pause('webhook', EVERY_LANE);
    const { claimed, ready } = await deliveryStores.fanOutInto({}, acme);
    await stores.resume('webhook', EVERY_LANE);
    expect(claimed).toEqual([]);
    expect(ready).toMatchObject([{ laneId: webhookLane(webhook), deliveries: 2 }]);
  });

  it('W9: creates one delivery for each event and subscribed webhook, and the event is no longer due', async () => {
    const second = await deliveryStores.addWebhook(acme);
    await deliveryStores.record(acme, 3);
    const late = await deliveryStores.addWebhook(acme);
    const { lanes, ready } = await deliveryStores.fanOut(acme);
    expect(lanes).toEqual([{ laneId: eventLane(acme), events: 3, hasMore: false }]);
    expect(ready).toHaveLength(2);
    for (const id of [webhook, second])
      expect(ready).toContainEqual({ laneId: webhookLane(id), deliveries: 3, isSlow: false });
    for (const id of [webhook, second]) {
      expect(new Set((await deliveriesOf(id)).map(({ event_id }) => event_id)).size).toBe(3);
      expect(await due(id)).toBe(3);
    }
    expect(await deliveriesOf(late)).toEqual([]);
    expect(await dueEvents()).toBe(0);
  });

  it('W9: creates deliveries that are due since their events happened, by which they are ordered, and given up when held', async () => {
    await deliveryStores.record(acme, 2);
    await sleep(20);
    await deliveryStores.fanOut(acme);
    const rows = await stores.ask(
      `SELECT o.due_at = e.created_at AS since_event
       FROM   outbox o JOIN webhook_deliveries d ON d.id = o.subject_id JOIN events e ON e.id = d.event_id
       WHERE  o.lane_id = $1`,
      [webhookLane(webhook)],
    );
    expect(rows).toEqual([{ since_event: true }, { since_event: true }]);
  });

  it('W9: creates each delivery once, although the events are fanned out twice concurrently', async () => {
    await deliveryStores.record(acme, 200);
    const rows = await stores.ask('SELECT * FROM outbox WHERE lane_id = $1', [eventLane(acme)]);
    await Promise.all([1, 2, 3, 4].map(() => deliveryStores.fanOut(acme, 90)));
    await deliveryStores.fanOut(acme);
    const before = await deliveriesOf(webhook);
    expect(before).toHaveLength(200);
    const [delivery] = await deliveryStores.claim(webhook, 1);
    await record(deliveryStores.outcome(delivery!));

    await stores.ask('INSERT INTO outbox SELECT * FROM json_populate_recordset(NULL::outbox, $1)', [
      JSON.stringify(rows),
    ]);
    await deliveryStores.fanOut(acme);
    expect((await deliveriesOf(webhook)).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect(await due(webhook)).toBe(199);
    expect(await dueEvents()).toBe(0);
  });

  it('reports when a lane has more events, and begins with the longest due', async () => {
    await deliveryStores.record(acme, 5);
    expect(await deliveryStores.fanOut(acme, 2)).toMatchObject({ lanes: [{ events: 2, hasMore: true }] });
    expect(await dueEvents()).toBe(3);
  });

  it('W9: drops the events of webhooks that are deleted, and holds those of paused ones', async () => {
    const other = await deliveryStores.addWebhook(acme);
    await setStatus('PAUSED');
    await deliveryStores.record(acme, 2);
    await webhooks.delete(acme, operator('test'), other);
    await deliveryStores.fanOut(acme);
    expect(await deliveriesOf(other)).toEqual([]);
    expect(await due(webhook)).toBe(2);
    expect(await deliveryStores.claim(webhook)).toEqual([]);
    await setStatus('ACTIVE');
    expect(await deliveryStores.claim(webhook)).toHaveLength(2);
  });

  it('skips all lanes while everything is paused', async () => {
    await deliveryStores.record(acme, 1);
    await stores.ask(`INSERT INTO paused_lanes (queue, lane_id, reason) VALUES ('event', '*', 'test')`);
    expect(await deliveryStores.fanOut(acme)).toMatchObject({ lanes: [], made: 0 });
    await stores.ask('DELETE FROM paused_lanes');
    expect(await deliveryStores.fanOut(acme)).toMatchObject({ lanes: [{ events: 1 }], made: 1 });
  });
});

describe('Recording', () => {
  it('stores the attempt, and finishes a successful delivery', async () => {
    const [delivery] = await deliveryStores.recordAndClaim(acme, webhook);
    expect(await record(deliveryStores.outcome(delivery!))).toEqual([true]);
    expect(await deliveriesOf(webhook)).toMatchObject([{ status: 'SUCCEEDED', attempts: 1, finished: true }]);
    expect(await attemptsOf(uuidOf(delivery!.id))).toEqual([
      {
        number: 1,
        status_code: 200,
        error_class: null,
        reason: null,
        headers: { a: 'b' },
        body: 'ok',
        duration_ms: 3,
        late: false,
      },
    ]);
    expect(await due(webhook)).toBe(0);
  });

  it('writes to no index of deliveries for a success', async () => {
    const inPlace = async (): Promise<number> => {
      const flush = () => stores.ask('SELECT pg_stat_force_next_flush()');
      await Promise.all([1, 2, 3, 4].map(flush));
      const [row] = await stores.ask<{ sum: number }>(
        `SELECT sum(n_tup_hot_upd)::int AS sum FROM pg_stat_user_tables WHERE relname LIKE 'webhook_deliveries_%'`,
      );
      return row!.sum;
    };
    const before = await inPlace();
    // More than fits into two pages.
    const claimed = await deliveryStores.recordAndClaim(acme, webhook, 100);
    await record(...claimed.map((delivery) => deliveryStores.outcome(delivery)));
    // An idle connection may keep its statistics for ten seconds.
    for (let tries = 0; tries < 600 && (await inPlace()) < before + 100; tries += 1) await sleep(100);
    expect((await inPlace()) - before).toBeGreaterThanOrEqual(100);
  });

  it('W8: schedules the retry of a failure by the next step of the table; a fault of ours costs neither attempt nor step', async () => {
    const [delivery] = await deliveryStores.recordAndClaim(acme, webhook);
    await record(deliveryStores.failed(delivery!, { retryAfterMs: 3_600_000 }));
    const [row] = await stores.ask(
      `SELECT state, attempts, unanswered, due_at > now() + interval '59 minutes' AS later FROM outbox WHERE subject_id = $1`,
      [uuidOf(delivery!.id)],
    );
    expect(row).toEqual({ state: 'waiting', attempts: 1, unanswered: 0, later: true });

    await stores.ask(`UPDATE outbox SET state = 'ready' WHERE lane_id = $1`, [webhookLane(webhook)]);
    const [again] = await deliveryStores.claim(webhook);
    expect(again).toMatchObject({ attempts: 1, attemptsMade: 1, claims: 2 });
    const ours = { steps: 1, attempt: null } as const;
    await record(deliveryStores.failed(again!, ours));
    expect(await deliveriesOf(webhook)).toMatchObject([{ status: 'PENDING', attempts: 1 }]);
    expect(await attemptsOf(uuidOf(delivery!.id))).toHaveLength(1);
  });

  it('of a claim that a restored database does not know is late, and the next claim of the same number is recorded as well', async () => {
    const [delivery] = await deliveryStores.recordAndClaim(acme, webhook);
    await stores.outbox.giveBack([delivery!]);
    const ofLostTime = deliveryStores.outcome({ ...delivery!, claims: 2 });
    for (let times = 0; times < 2; times += 1) expect(await record(ofLostTime)).toEqual([false]);
    const [again] = await deliveryStores.claim(webhook);
    expect(again).toMatchObject({ id: delivery!.id, claims: 2 });
    expect(await record(deliveryStores.outcome(again!))).toEqual([true]);
    expect(await attemptsOf(uuidOf(delivery!.id))).toMatchObject([{ late: true }, { late: false }]);
  });

  it('may follow a fault of ours of such a claim', async () => {
    const [delivery] = await deliveryStores.recordAndClaim(acme, webhook);
    await stores.outbox.giveBack([delivery!]);
    const { id } = delivery!;
    const fault = { id, claims: 2, number: 1, reason: 'it was us', durationMs: 0 };
    for (let times = 0; times < 2; times += 1) await deliveryStores.deliveries.recordOwnFaults([fault]);
    const [again] = await deliveryStores.claim(webhook);
    expect(again).toMatchObject({ id, claims: 2 });
    expect(await record(deliveryStores.outcome(again!))).toEqual([true]);
    expect(await attemptsOf(uuidOf(id))).toMatchObject([
      { error_class: 'internal' },
      { status_code: 200, late: false },
    ]);
  });

  it('changes no state when its row was claimed again, and stores its attempt as late, once', async () => {
    const [delivery] = await deliveryStores.recordAndClaim(acme, webhook);
    await stores.outbox.giveBack([delivery!]);
    const [mine] = await deliveryStores.claim(webhook);
    const outcome = deliveryStores.outcome(delivery!);
    expect(await record(outcome)).toEqual([false]);
    expect(await record(outcome, deliveryStores.outcome(mine!))).toEqual([false, true]);
    expect(await record(deliveryStores.outcome(mine!))).toEqual([false]);
    expect(await attemptsOf(uuidOf(delivery!.id))).toMatchObject([{ late: true }, { late: false }]);
    expect(await deliveriesOf(webhook)).toMatchObject([{ status: 'SUCCEEDED', attempts: 1 }]);
  });

  it('stores nothing of a delivery that was erased meanwhile', async () => {
    const [delivery] = await deliveryStores.recordAndClaim(acme, webhook);
    const { id, claims } = delivery!;
    await stores.ask('DELETE FROM outbox WHERE subject_id = $1', [uuidOf(id)]);
    await stores.ask('DELETE FROM webhook_deliveries WHERE id = $1', [uuidOf(id)]);
    await deliveryStores.deliveries.recordOwnFaults([
      { id, claims, number: 1, reason: 'a bug', durationMs: 0 },
    ]);
    expect(await record(deliveryStores.outcome(delivery!))).toEqual([false]);
    expect(await attemptsOf(uuidOf(id))).toEqual([]);
  });

  it('stores nothing of a delivery that is being removed at that moment', async () => {
    const [delivery] = await deliveryStores.recordAndClaim(acme, webhook);
    const { id, claims } = delivery!;
    await stores.ask('DELETE FROM outbox WHERE subject_id = $1', [uuidOf(id)]);
    const removing = await stores.database.pool.connect();
    await removing.query('BEGIN');
    await removing.query('DELETE FROM webhook_deliveries WHERE id = $1', [uuidOf(id)]);
    await deliveryStores.deliveries.recordOwnFaults([
      { id, claims, number: 1, reason: 'a bug', durationMs: 0 },
    ]);
    const recorded = await record(deliveryStores.outcome(delivery!));
    await removing.query('COMMIT');
    removing.release();
    expect(recorded).toEqual([false]);
    expect(await attemptsOf(uuidOf(id))).toEqual([]);
  });

  it('takes effect when the lease has ended and its row was not claimed again; its attempt is stored, and not late', async () => {
    const [delivery] = await deliveryStores.recordAndClaim(acme, webhook);
    await stores.letLeasesEnd([delivery!.id]);
    await stores.revive();
    expect(await record(deliveryStores.outcome(delivery!))).toEqual([true]);
    expect(await attemptsOf(uuidOf(delivery!.id))).toMatchObject([{ status_code: 200, late: false }]);
    expect(await deliveriesOf(webhook)).toMatchObject([{ status: 'SUCCEEDED', attempts: 1 }]);
    expect(await due(webhook)).toBe(0);
  });
});

describe('A receiver', () => {
  const health = () => new ReceiverHealthStore(stores.database);
  /** Reports POSTs to the webhook in its current version, or in an earlier one. */
  const report = async (observation: Partial<ReceiverObservation>, asOf?: string) => {
    const [now] = await deliveryStores.deliveries.readReceivers([webhook]);
    const whose = { webhookId: webhook, workspaceId: acme, asOf: asOf ?? now!.asOf };
    const told: NewWebhookNotice[] = [];
    await health().applyReports(
      [{ effect: 'failed', isSlow: false, ...observation, ...whose }],
      (newNotice) => told.push(newNotice),
    );
    return told;
  };

  it('W8: is failing from its first failure to its next success', async () => {
    await report({});
    expect(await webhookRow()).toEqual({ status: 'ACTIVE', failing: true, warned: false });
    await report({ effect: 'succeeded' });
    expect(await webhookRow()).toEqual({ status: 'ACTIVE', failing: false, warned: false });
  });

  it('W8: causes a warning after three days of failures, and its webhook is disabled after five; due deliveries are held', async () => {
    await deliveryStores.record(acme, 2);
    await deliveryStores.fanOut(acme);
    await failingFor(3, null);
    expect(await report({})).toMatchObject([{ notice: 'FAILING' }]);
    expect(await report({})).toEqual([]);
    await failingFor(5, 2);
    expect(await report({})).toMatchObject([{ notice: 'DISABLED_FAILING' }]);
    expect(await report({})).toEqual([]);
    expect(await webhookRow()).toMatchObject({ status: 'DISABLED' });
    expect(await noticesOf()).toEqual([{ kind: 'FAILING' }, { kind: 'DISABLED_FAILING' }]);
    expect(
      await stores.count('audit_log', `subject_id = $1 AND action = 'webhook.disabled'`, [webhook]),
    ).toBe(1);
    expect(await due(webhook)).toBe(2);
    expect(await deliveryStores.claim(webhook)).toEqual([]);
  });

  it('W8: disables its webhook once, although several processes report a 410 concurrently', async () => {
    const [now] = await deliveryStores.deliveries.readReceivers([webhook]);
    const reports = await Promise.all([1, 2, 3].map(() => report({ effect: 'gone' }, now!.asOf)));
    expect(reports.flat()).toMatchObject([{ webhookId: webhook, notice: 'DISABLED_GONE' }]);
    expect(await noticesOf()).toEqual([{ kind: 'DISABLED_GONE' }]);
  });

  it('W6: has its previous token only until that expires', async () => {
    const previousToken = async () =>
      (await deliveryStores.deliveries.readReceivers([webhook]))[0]!.sealedPreviousToken;
    const expireIn = (seconds: number) =>
      stores.ask(
        `UPDATE webhooks SET previous_token = 'old', previous_token_until = now() + make_interval(secs => $2) WHERE id = $1`,
        [uuidOf(webhook), seconds],
      );
    await expireIn(60);
    expect(await previousToken()).toEqual(Buffer.from('old'));
    await expireIn(-1);
    expect(await previousToken()).toBeNull();
  });

  it('W8: starts afresh when its webhook is changed: reports about the old URL do not count', async () => {
    await report({ isSlow: true });
    const [before] = await deliveryStores.deliveries.readReceivers([webhook]);
    await webhooks.change(acme, operator('test'), webhook, () => ({ url: 'https://example.org' }));
    expect(await report({ effect: 'gone' }, before!.asOf)).toEqual([]);
    expect(await webhookRow()).toEqual({ status: 'ACTIVE', failing: false, warned: false });
    expect(await stores.count('slow_lanes', 'lane_id = $1', [webhookLane(webhook)])).toBe(0);
  });

  it('W8: starts afresh when its disabled webhook is activated: the next failure is the first', async () => {
    await failingFor(5, 2);
    expect(await report({ isSlow: true })).toMatchObject([{ notice: 'DISABLED_FAILING' }]);
    await setStatus('ACTIVE');
    expect(await stores.count('slow_lanes', 'lane_id = $1', [webhookLane(webhook)])).toBe(0);
    expect(await report({})).toEqual([]);
    expect(await webhookRow()).toEqual({ status: 'ACTIVE', failing: true, warned: false });
    expect(await upkeep.putBackDeliveries(100)).toBe(0);
  });

  it('W10: gets exhausted deliveries again when its disabled webhook is activated, from the first step on', async () => {
    const [lost, taken] = await deliveryStores.recordAndClaim(acme, webhook, 3);
    await record(
      deliveryStores.failed(lost!, { status: 'EXHAUSTED', retryAfterMs: null }),
      deliveryStores.outcome(taken!),
    );
    await report({ effect: 'gone' });
    expect(await upkeep.putBackDeliveries(100)).toBeUndefined();

    await setStatus('ACTIVE');
    expect(await upkeep.putBackDeliveries(1)).toBe(1);
    expect(await upkeep.putBackDeliveries(1)).toBe(0);
    expect(await upkeep.putBackDeliveries(1)).toBeUndefined();
    expect(await deliveryStores.claim(webhook)).toMatchObject([
      { id: lost!.id, attempts: 0, attemptsMade: 1 },
    ]);
    const finished = (await deliveriesOf(webhook)).filter((delivery) => delivery.finished);
    expect(finished).toMatchObject([{ id: uuidOf(taken!.id), status: 'SUCCEEDED' }]);
  });

  it('W9: gets deliveries that wait for a retry at once when its disabled webhook is activated, from the first step on', async () => {
    const claimed = await deliveryStores.recordAndClaim(acme, webhook, 3);
    await record(...claimed.map((one) => deliveryStores.failed(one, { retryAfterMs: 3_600_000 })));
    await report({ effect: 'gone' });
    await setStatus('ACTIVE');
    expect(await upkeep.putBackDeliveries(2)).toBe(2);
    expect(await upkeep.putBackDeliveries(2)).toBe(1);
    expect(await upkeep.putBackDeliveries(2)).toBeUndefined();
    const again = await deliveryStores.claim(webhook);
    expect(again).toMatchObject([1, 2, 3].map(() => ({ attempts: 0, attemptsMade: 1 })));
    expect(again.map(({ id }) => id).sort()).toEqual(claimed.map(({ id }) => id).sort());
  });

  it('W9: gets those that have failed again at once, too, when its webhook is disabled and activated once more', async () => {
    const claimed = await deliveryStores.recordAndClaim(acme, webhook, 3);
    await record(...claimed.map((one) => deliveryStores.failed(one, { retryAfterMs: 3_600_000 })));
    await report({ effect: 'gone' });
    await setStatus('ACTIVE');
    expect(await upkeep.putBackDeliveries(2)).toBe(2);
    // The activation has the time that this process believes the database to have.
    await sleep(50);
    const again = await deliveryStores.claim(webhook);
    await record(...again.map((one) => deliveryStores.failed(one, { retryAfterMs: 3_600_000 })));
    await sleep(50);
    await report({ effect: 'gone' });
    await setStatus('ACTIVE');
    expect(await upkeep.putBackDeliveries(100)).toBe(3);
    expect(await upkeep.putBackDeliveries(100)).toBeUndefined();
  });

  it('W8: waits for its retry if it has failed only after its webhook was activated', async () => {
    const [delivery] = await deliveryStores.recordAndClaim(acme, webhook);
    await report({ effect: 'gone' });
    await setStatus('ACTIVE');
    // The activation has the time that this process believes the database to have.
    await sleep(50);
    await record(deliveryStores.failed(delivery!));
    expect(await upkeep.putBackDeliveries(100)).toBe(0);
    expect(await deliveryStores.claim(webhook)).toEqual([]);
  });

  it('W10: does not get a delivery again that is exhausted only after its webhook was activated', async () => {
    const [delivery] = await deliveryStores.recordAndClaim(acme, webhook);
    await report({ effect: 'gone' });
    await setStatus('ACTIVE');
    // The activation has the time that this process believes the database to have.
    await sleep(50);
    await record(deliveryStores.failed(delivery!, { status: 'EXHAUSTED', retryAfterMs: null }));
    expect(await upkeep.putBackDeliveries(100)).toBe(0);
    expect(await deliveriesOf(webhook)).toMatchObject([{ status: 'EXHAUSTED' }]);
  });

  it('W10: keeps its attempts before and after a redelivery', async () => {
    const [lost] = await deliveryStores.recordAndClaim(acme, webhook);
    await record(deliveryStores.failed(lost!, { status: 'EXHAUSTED', retryAfterMs: null }));
    const changes = new DeliveryChanges(stores.database);
    expect(await changes.sendAgain(acme, operator('test'), webhook, lost!.id)).toBe('put_back');
    expect(await changes.sendAgain(acme, operator('test'), webhook, lost!.id)).toBe('due_already');
    const [again] = await deliveryStores.claim(webhook);
    expect(await changes.sendAgain(acme, operator('test'), webhook, lost!.id)).toBe('under_way');
    await record(deliveryStores.failed(again!));
    expect(await changes.sendAgain(acme, operator('test'), webhook, lost!.id)).toBe('hastened');
    // With all its retries.
    const dueNow = 'lane_id = $1 AND due_at <= now() AND attempts = 0';
    expect(await stores.count('outbox', dueNow, [webhookLane(webhook)])).toBe(1);
    // A late outcome of the first claim changes nothing.
    expect(await record(deliveryStores.outcome(lost!))).toEqual([false]);
    expect(await attemptsOf(uuidOf(lost!.id))).toMatchObject([{ number: 1 }, { number: 2 }]);
    expect(await deliveriesOf(webhook)).toMatchObject([{ status: 'PENDING', attempts: 2 }]);
  });

  it('W10: is redelivered once by concurrent requests, and not by another workspace', async () => {
    const [lost] = await deliveryStores.recordAndClaim(acme, webhook);
    await record(deliveryStores.failed(lost!, { status: 'EXHAUSTED', retryAfterMs: null }));
    const changes = new DeliveryChanges(stores.database);
    const other = await stores.openWorkspace();
    expect(await changes.sendAgain(other, operator('test'), webhook, lost!.id)).toBeUndefined();
    const all = await Promise.all(
      [1, 2, 3, 4].map(() => changes.sendAgain(acme, operator('test'), webhook, lost!.id)),
    );
    expect(all.sort()).toEqual(['due_already', 'due_already', 'due_already', 'put_back']);
    expect(await stores.count('audit_log', 'subject_id = $1', [webhook])).toBe(1);
    expect(await due(webhook)).toBe(1);
  });

  it('W10: is not found when it is removed at the moment in which it is sent again', async () => {
    const [told] = await deliveryStores.recordAndClaim(acme, webhook);
    await record(deliveryStores.outcome(told!));
    const ids = [uuidOf(told!.id)];
    const removing = await stores.database.pool.connect();
    await removing.query('BEGIN');
    await removing.query(NEEDED_DELIVERIES, [ids, 30]);
    const again = new DeliveryChanges(stores.database).sendAgain(acme, operator('test'), webhook, told!.id);
    await stores.untilWaiting();
    for (const sql of Object.values(REMOVE_DELIVERIES)) await removing.query(sql, [ids]);
    await removing.query('COMMIT');
    removing.release();
    expect(await again).toBeUndefined();
    expect(await due(webhook)).toBe(0);
  });

  it('W10: stores a fault of ours as an attempt, only the first of a run, without counting it', async () => {
    const [delivery] = await deliveryStores.recordAndClaim(acme, webhook);
    await record(deliveryStores.failed(delivery!));
    await stores.ask(`UPDATE outbox SET state = 'ready' WHERE lane_id = $1`, [webhookLane(webhook)]);
    const { id } = delivery!;
    for (let times = 0; times < 2; times += 1) {
      const [again] = await deliveryStores.claim(webhook);
      const fault = { id, claims: again!.claims, number: 2, reason: 'it was us', durationMs: 2.5 };
      await deliveryStores.deliveries.recordOwnFaults([fault]);
      await deliveryStores.deliveries.recordOwnFaults([fault]);
      await stores.outbox.giveBack([again!]);
    }
    const shown = { number: 2, status_code: null, error_class: 'internal', reason: 'it was us' };
    expect(await attemptsOf(uuidOf(id))).toMatchObject([{ error_class: 'http' }, shown]);
    expect(await deliveriesOf(webhook)).toMatchObject([{ attempts: 1 }]);
  });

  it('is slow until it answers in time, and only the workers for slow webhooks claim its deliveries', async () => {
    await deliveryStores.record(acme, 1);
    await deliveryStores.fanOut(acme);
    await report({ isSlow: true });
    expect(await deliveryStores.claim(webhook)).toEqual([]);
    expect(await stores.outbox.lanesWithReadyRows()).toContainEqual({
      queue: 'webhook',
      laneId: webhookLane(webhook),
      isSlow: true,
    });
    await deliveryStores.record(acme, 1);
    expect(await deliveryStores.fanOut(acme)).toMatchObject({ ready: [{ isSlow: true }] });
    expect(await deliveryStores.claim(webhook, 1, true)).toHaveLength(1);
    await report({ effect: 'succeeded' });
    expect(await deliveryStores.claim(webhook, 5, true)).toEqual([]);
    expect(await deliveryStores.claim(webhook)).toHaveLength(1);
  });
});

describe('The end of a delivery', () => {
  it('comes (EXHAUSTED) when it has killed five workers in a row', async () => {
    const [delivery] = await deliveryStores.recordAndClaim(acme, webhook);
    await stores.ask(
      `UPDATE outbox SET unanswered = 5, lease_until = now() - interval '1 hour' WHERE subject_id = $1`,
      [uuidOf(delivery!.id)],
    );
    expect(await stores.revive({ graceMs: 1_000 })).toEqual({ revived: 0, givenUp: 1 });
    expect(await deliveriesOf(webhook)).toMatchObject([{ status: 'EXHAUSTED', attempts: 1 }]);
    expect(await attemptsOf(uuidOf(delivery!.id))).toMatchObject([{ error_class: 'worker_died' }]);
  });

  it('is not changed by a worker that was taken for dead and still reports, nor does that fail', async () => {
    const [delivery] = await deliveryStores.recordAndClaim(acme, webhook);
    await stores.letLeasesEnd([delivery!.id]);
    expect(await stores.revive({ graceMs: 1_000, maxUnanswered: 1 })).toEqual({ revived: 0, givenUp: 1 });
    const { id, claims } = delivery!;
    await deliveryStores.deliveries.recordOwnFaults([
      { id, claims, number: 1, reason: 'a bug', durationMs: 0 },
    ]);
    expect(await record(deliveryStores.outcome(delivery!))).toEqual([false]);
    expect(await deliveriesOf(webhook)).toMatchObject([{ status: 'EXHAUSTED', attempts: 1 }]);
    expect(await attemptsOf(uuidOf(id))).toMatchObject([{ error_class: 'worker_died', late: false }]);
  });

  it('W9: comes (EXPIRED) when it was held too long, for a limited number of all webhooks together at a time', async () => {
    const others = await Promise.all([deliveryStores.addWebhook(acme), deliveryStores.addWebhook(acme)]);
    await deliveryStores.record(acme, 3);
    await deliveryStores.fanOut(acme);
    for (const id of [webhook, ...others])
      await webhooks.change(acme, operator('test'), id, () => ({ status: 'PAUSED' }));
    await stores.ask(`UPDATE outbox SET due_at = now() - interval '31 days' WHERE lane_id = ANY ($1)`, [
      [webhook, ...others].map(webhookLane),
    ]);
    const expired = [];
    for (let round = 0; round < 4; round += 1) expired.push(await upkeep.expireHeldDeliveries(30, 4));
    expect(expired).toEqual([4, 4, 1, 0]);
    const left = await Promise.all([webhook, ...others].map((id) => due(id)));
    expect(left).toEqual([0, 0, 0]);
    const all = await Promise.all([webhook, ...others].map((id) => deliveriesOf(id)));
    expect(new Set(all.flat().map(({ status }) => status))).toEqual(new Set(['EXPIRED']));
  });

  it('W9: comes after 30 days of being held, no earlier, and not while it is still being posted', async () => {
    await setStatus('PAUSED');
    await deliveryStores.record(acme, 3);
    await deliveryStores.fanOut(acme);
    const [oldest, posted] = await deliveriesOf(webhook);
    await stores.ask(`UPDATE outbox SET due_at = now() - interval '29 days' WHERE lane_id = $1`, [
      webhookLane(webhook),
    ]);
    await stores.ask(`UPDATE outbox SET due_at = now() - interval '31 days' WHERE subject_id = ANY ($1)`, [
      [oldest!.id, posted!.id],
    ]);
    await stores.ask(`UPDATE outbox SET state = 'taken', lease_until = now() WHERE subject_id = $1`, [
      posted!.id,
    ]);
    expect(await upkeep.expireHeldDeliveries(30, 100)).toBe(1);
    expect(await upkeep.expireHeldDeliveries(30, 100)).toBe(0);
    expect((await deliveriesOf(webhook)).map(({ status }) => status)).toEqual([
      'EXPIRED',
      'PENDING',
      'PENDING',
    ]);
    expect(await due(webhook)).toBe(2);
  });
});
