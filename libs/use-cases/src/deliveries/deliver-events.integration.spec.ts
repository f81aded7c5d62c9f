import { expect, it } from '@jest/globals';
import { idFromUuid, newUuid, sleep, uuidOf, type WebhookId } from '@posthorn/kernel';
import { eventShape, POSTHORN, webhookLane } from '@posthorn/domain';
import {
  type ClaimedDelivery,
  DeliveryStore,
  OutboxStore,
  type Receiver,
  ReceiverHealthStore,
  WorkspaceStore,
} from '@posthorn/database';
import type { DeliverEvent } from './deliver-event.ts';
import { DeliverEvents } from './deliver-events.ts';
import { outcomeOfPost, reportOfSlowness } from './outcome-of-post.ts';
import { openTestDatabase } from '../open-test-database.fixture.ts';

const LEASE_MS = 60_000;
const TIMES = { rowsPerTurn: 50, handoverMs: 10, leaseMs: LEASE_MS, renewalMs: 20_000, marginMs: 30_000 };

const database = await openTestDatabase();
const deliveries = new DeliveryStore(database);
const { id: acme } = await new WorkspaceStore(database).create(POSTHORN, 'Acme', null);

/** A webhook with a delivery that is due. */
async function addWebhook(): Promise<WebhookId> {
  const webhook = newUuid(Date.now());
  await database.pool.query(
    `INSERT INTO webhooks (id, workspace_id, url, events, token) VALUES ($1, $2, 'https://example.com', '{CONTACT_DELETED}', '')`,
    [webhook, uuidOf(acme)],
  );
  await addDelivery(webhook);
  return idFromUuid('wh', webhook);
}

async function addDelivery(webhook: string): Promise<void> {
  const [event, delivery] = [newUuid(Date.now()), newUuid(Date.now())];
  const { pool } = database;
  await pool.query(
    `INSERT INTO events (id, workspace_id, type, payload, webhook_ids, created_at) VALUES ($1, $2, 'CONTACT_DELETED', $3, ARRAY[$4::uuid], now())`,
    [event, uuidOf(acme), JSON.stringify(eventShape('CONTACT_DELETED').example), webhook],
  );
  await pool.query(
    `WITH delivery AS (
       INSERT INTO webhook_deliveries (id, webhook_id, event_id, workspace_id, status) VALUES ($1, $2, $3, $4, 'PENDING')
     )
     INSERT INTO outbox (subject_id, queue, lane_id, state, due_at) VALUES ($1, 'webhook', type_id('wh', $2), 'ready', now())`,
    [delivery, webhook, event, uuidOf(acme)],
  );
}

async function countTaken(webhook: WebhookId): Promise<number> {
  const { rows } = await database.pool.query<{ taken: number }>(
    `SELECT count(*)::int AS taken FROM outbox WHERE lane_id = $1 AND state = 'taken'`,
    [webhookLane(webhook)],
  );
  return rows[0]!.taken;
}

async function stateOf(webhook: WebhookId): Promise<string | undefined> {
  const { rows } = await database.pool.query<{ state: string }>(
    'SELECT state FROM outbox WHERE lane_id = $1',
    [webhookLane(webhook)],
  );
  return rows[0]?.state;
}

const ANSWER = { kind: 'answered', status: 500, headers: {}, body: '', durationMs: 3 } as const;

async function receiverOf({ webhookId }: ClaimedDelivery): Promise<Receiver> {
  const [receiver] = await deliveries.readReceivers([webhookId]);
  return receiver!;
}

const answerAtOnce: DeliverEvent['deliver'] = async (delivery) =>
  outcomeOfPost(delivery, await receiverOf(delivery), ANSWER, { now: new Date(), random: 0, wasSlow: false });

/** Posts to receivers all of which answer 500. */
function dispatcher(
  onError: (error: unknown) => void,
  deliver = answerAtOnce,
  outbox = new OutboxStore(database),
  store = deliveries,
): DeliverEvents {
  const rings = { ringAll: () => undefined, ringSlot: () => undefined };
  return new DeliverEvents({
    ...TIMES,
    outbox,
    deliveries: store,
    health: new ReceiverHealthStore(database),
    delivery: { deliver },
    rings: { webhook: rings, slowWebhook: rings },
    connections: 4,
    slowConnections: 1,
    onNotice: () => undefined,
    onError,
  });
}

/** Lets a dispatcher claim and post one delivery of each of these webhooks. */
async function claimAndPost(events: DeliverEvents, ...webhooks: WebhookId[]): Promise<void> {
  const demands = webhooks.map((id) => ({ laneId: webhookLane(id), maxRows: 1 }));
  await events.spareCapacity.fill(demands.length, async () => ({
    claimed: await deliveries.claim(demands, 1_000_000, LEASE_MS, false),
  }));
}

it('records the outcome of a delivery although the observation of its receiver fails, and goes on', async () => {
  const [refused, other] = [await addWebhook(), await addWebhook()];
  await database.pool.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.id = '${uuidOf(refused)}' THEN RAISE EXCEPTION 'not this one' USING ERRCODE = 'check_violation'; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER refuse BEFORE UPDATE ON webhooks FOR EACH ROW EXECUTE FUNCTION refuse()`);
  const errors: unknown[] = [];
  const events = dispatcher((error) => errors.push(error));
  await claimAndPost(events, refused, other);
  await events.drain();
  const { rows } = await database.pool.query(
    `SELECT w.id, w.failing_since IS NOT NULL AS failing, d.attempts, o.state
     FROM   webhooks w JOIN webhook_deliveries d ON d.webhook_id = w.id JOIN outbox o ON o.subject_id = d.id
     ORDER  BY w.id = $1 DESC`,
    [uuidOf(refused)],
  );
  expect(rows).toEqual([
    { id: uuidOf(refused), failing: false, attempts: 1, state: 'waiting' },
    { id: uuidOf(other), failing: true, attempts: 1, state: 'waiting' },
  ]);
  expect(errors).toContainEqual(expect.objectContaining({ message: 'not this one' }));
});

it('records the outcomes of other deliveries while a webhook with an observation is locked', async () => {
  const [lockedElsewhere, other] = [await addWebhook(), await addWebhook()];
  const holder = await database.pool.connect();
  await holder.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0');
  await holder.query('SELECT FROM webhooks WHERE id = $1 FOR UPDATE', [uuidOf(lockedElsewhere)]);
  const errors: unknown[] = [];
  const events = dispatcher((error) => errors.push(error));
  await claimAndPost(events, lockedElsewhere, other);
  while ((await stateOf(other)) !== 'waiting') await sleep(10);
  expect(await stateOf(lockedElsewhere)).toBe('taken');
  // More deliveries are claimed meanwhile.
  await events.spareCapacity.waitForCapacityFor(1, 60_000);
  const third = await addWebhook();
  await claimAndPost(events, third);
  while ((await stateOf(third)) !== 'waiting') await sleep(10);
  await holder.query('ROLLBACK');
  holder.release();
  await events.drain();
  expect(await stateOf(lockedElsewhere)).toBe('waiting');
  expect(errors).toEqual([]);
});

it('W8: gives back to the slow queue what is claimed of a receiver that turns out to be slow, and posts none of it', async () => {
  const webhook = await addWebhook();
  for (let more = 0; more < 2; more += 1) await addDelivery(uuidOf(webhook));
  const posted: string[] = [];
  const answered = Promise.withResolvers<void>();
  const errors: unknown[] = [];
  const events = dispatcher(
    (error) => errors.push(error),
    async (delivery, mayStillBegin, onSlow) => {
      posted.push(delivery.id);
      onSlow?.(reportOfSlowness(delivery, await receiverOf(delivery), new Date()));
      await answered.promise;
      return answerAtOnce(delivery, mayStillBegin);
    },
  );
  const claim = (areSlow: boolean): Promise<ClaimedDelivery[]> =>
    deliveries.claim([{ laneId: webhookLane(webhook), maxRows: 3 }], 1_000_000, LEASE_MS, areSlow);
  await events.spareCapacity.fill(3, async () => ({ claimed: await claim(false) }));
  const bySlowQueue: ClaimedDelivery[] = [];
  for (; bySlowQueue.length < 2; await sleep(10)) bySlowQueue.push(...(await claim(true)));
  expect(posted).toHaveLength(1);
  answered.resolve();
  await events.drain();
  expect([posted.length, errors]).toEqual([1, []]);
});

it('W8: takes a single delivery of a slow receiver at a time until it answers, and again after no answer', async () => {
  const webhook = await addWebhook();
  for (let more = 1; more < 12; more += 1) await addDelivery(uuidOf(webhook));
  const lane = webhookLane(webhook);
  await database.pool.query('INSERT INTO slow_lanes (lane_id) VALUES ($1)', [lane]);
  const NO_ANSWER = {
    kind: 'failed',
    errorClass: 'timeout',
    reason: 'no answer',
    durationMs: 15_000,
  } as const;
  const NO_ADDRESS = { ...NO_ANSWER, errorClass: 'dns' } as const;
  type Result = typeof ANSWER | typeof NO_ANSWER | typeof NO_ADDRESS;
  const waiting: ((result: Result) => void)[] = [];
  const errors: unknown[] = [];
  const events = dispatcher(
    (error) => errors.push(error),
    async (delivery) => {
      const { promise, resolve } = Promise.withResolvers<Result>();
      waiting.push(resolve);
      const moment = { now: new Date(), random: 0, wasSlow: true };
      return outcomeOfPost(delivery, await receiverOf(delivery), await promise, moment);
    },
  );
  /** Ends all POSTs with this result. */
  const end = async (result: Result): Promise<void> => {
    for (; (await countTaken(webhook)) > 0; await sleep(10)) waiting.shift()?.(result);
  };
  const takenByTurn = async (): Promise<number> => {
    await events.serveSlow(lane, '0');
    return countTaken(webhook);
  };
  expect([await takenByTurn(), await takenByTurn()]).toEqual([1, 1]);
  await end(NO_ANSWER);
  expect(await takenByTurn()).toBe(1);
  await end(NO_ADDRESS);
  expect(await takenByTurn()).toBe(1);
  await end(ANSWER);
  expect(await takenByTurn()).toBeGreaterThan(1);
  await end(NO_ANSWER);
  expect(await takenByTurn()).toBe(1);
  await end(NO_ANSWER);
  await events.drain();
  expect(errors).toEqual([]);
});

it.each([
  ['the database cannot be reached', new Error('Connection terminated unexpectedly')],
  ['there is a deadlock', Object.assign(new Error('deadlock detected'), { code: '40P01' })],
])('gives back a delivery that was not begun although %s at first', async (_what, lost) => {
  class LostAtFirst extends OutboxStore {
    private isLost = true;

    override async giveBack(claims: Parameters<OutboxStore['giveBack']>[0]): Promise<void> {
      if (!this.isLost) return super.giveBack(claims);
      this.isLost = false;
      throw lost;
    }
  }
  const webhook = await addWebhook();
  const errors: unknown[] = [];
  const events = dispatcher(
    (error) => errors.push(error),
    () => Promise.resolve(undefined),
    new LostAtFirst(database),
  );
  await claimAndPost(events, webhook);
  await events.drain();
  expect([await stateOf(webhook), errors]).toEqual(['ready', [lost]]);
});

it('is drained only when a claim under way has ended, and what it has claimed is given back', async () => {
  const webhook = await addWebhook();
  const events = dispatcher(() => undefined);
  const answer = Promise.withResolvers<void>();
  void events.spareCapacity.fill(1, async () => {
    const demand = { laneId: webhookLane(webhook), maxRows: 1 };
    const claimed = await deliveries.claim([demand], 1_000_000, LEASE_MS, false);
    await answer.promise;
    return { claimed };
  });
  while ((await stateOf(webhook)) !== 'taken') await sleep(10);
  let isDrained = false;
  const drained = events.drain().then(() => (isDrained = true));
  await sleep(100);
  expect(isDrained).toBe(false);
  answer.resolve();
  await drained;
  expect(await stateOf(webhook)).toBe('ready');
});

it('claims nothing while outcomes cannot be recorded, and goes on when they can', async () => {
  let isReachable = false;
  class Unreachable extends DeliveryStore {
    override async record(outcomes: Parameters<DeliveryStore['record']>[0]): Promise<boolean[]> {
      if (!isReachable) throw new Error('Connection terminated unexpectedly');
      return super.record(outcomes);
    }
  }
  const webhook = await addWebhook();
  const failed = Promise.withResolvers<unknown>();
  const events = dispatcher(
    failed.resolve,
    answerAtOnce,
    new OutboxStore(database),
    new Unreachable(database),
  );
  const capacity = async (): Promise<number> => {
    const { rows } = await events.spareCapacity.fill(1, (free) => Promise.resolve({ ...free, claimed: [] }));
    return rows;
  };
  await claimAndPost(events, webhook);
  await failed.promise;
  expect(await capacity()).toBe(0);
  isReachable = true;
  while ((await capacity()) === 0) await sleep(10);
  expect(await stateOf(webhook)).toBe('waiting');
  await events.drain();
});
