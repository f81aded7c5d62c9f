import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { idFromUuid, newUuid, uuidOf, type WebhookId } from '@posthorn/kernel';
import { eventShape } from '@posthorn/domain';
import type { AppUnderTest } from '@posthorn/testing';
import { Stack, until, takesAll } from '../e2e/stack.ts';
import { expectPostedOnce, recordedDeliveries } from './delivery-checks.ts';
import { FEW_CONNECTIONS, UNRECORDED } from './few-connections.ts';
import { SHORT_LEASES } from './short-leases.ts';

const FAILED = 10_000;
/** Few enough for a slow machine to write them before the statement times out. */
const A_STATEMENT = 500;

describe('A recovery', () => {
  let stack: Stack;
  let webhook: WebhookId;

  beforeEach(async () => {
    stack = await Stack.start({
      receives: takesAll,
      env: { ...SHORT_LEASES, ...FEW_CONNECTIONS },
    });
    const body = { url: stack.receiver.url('/hook'), events: ['CONTACT_CREATED'] };
    webhook = ((await stack.api().post('/v1/webhooks', body)).body['webhook'] as { id: WebhookId }).id;
  });
  afterEach(() => stack.close());

  /** Creates exhausted deliveries. @returns the event of each */
  async function exhaust(): Promise<Map<string, string>> {
    const exhausted = new Map<string, string>();
    for (let n = 0; n < FAILED; n += A_STATEMENT)
      for (const [delivery, event] of await exhaustGroup()) exhausted.set(delivery, event);
    return exhausted;
  }

  async function exhaustGroup(): Promise<[delivery: string, event: string][]> {
    const events = Array.from({ length: A_STATEMENT }, () => newUuid(Date.now()));
    const { rows } = await stack.database.pool.query<{ delivery: string; event: string }>(
      `WITH recorded AS (
         INSERT INTO events (id, workspace_id, type, payload, webhook_ids, created_at)
         SELECT id, $1, 'CONTACT_CREATED', $4, ARRAY[$2::uuid], now() FROM unnest($3::uuid[]) AS id
       ), delivery AS (
         INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id, status, attempts, finished_at)
         SELECT delivery_id(id, $2), $1, $2, id, 'EXHAUSTED', 10, now() FROM unnest($3::uuid[]) AS id
         RETURNING id, event_id
       ), attempt AS (
         INSERT INTO webhook_attempts (delivery_id, claims, number, error_class, duration_ms)
         SELECT id, 10, 10, 'connect', 1 FROM delivery
       )
       SELECT id AS delivery, event_id AS event FROM delivery`,
      [
        uuidOf(stack.tenant.workspaceId),
        uuidOf(webhook),
        events,
        JSON.stringify(eventShape('CONTACT_CREATED').example),
      ],
    );
    return rows.map(({ delivery, event }) => [idFromUuid('dlv', delivery), idFromUuid('evt', event)]);
  }

  async function recovery(id: string): Promise<{ status: string; total: number; done: number }> {
    const answer = await stack.api().get(`/v1/webhooks/${webhook}/recoveries/${id}`);
    return answer.body['recovery'] as { status: string; total: number; done: number };
  }

  /** @returns the deliveries that were recorded when it had died */
  async function killAndReplace(
    name: 'scheduler' | 'webhook-dispatcher',
    app: AppUnderTest,
  ): Promise<Set<string>> {
    app.program.kill('SIGKILL');
    await app.program.exit;
    const recorded = await recordedDeliveries(stack);
    await stack.startApp(name);
    return recorded;
  }

  it('W10: of 10,000 deliveries is completed when its processes are killed in the middle, each delivery with its ids', async () => {
    const failed = await exhaust();
    const body = { since: new Date(Date.now() - 3_600_000).toISOString() };
    const { id } = (await stack.api().post(`/v1/webhooks/${webhook}/recover`, body)).body['recovery'] as {
      id: string;
    };
    await until(() => stack.receiver.posts.length > 1_500, 'it is under way');
    expect(await recovery(id)).toMatchObject({ status: 'RUNNING', total: FAILED });
    const [recordedThen] = await Promise.all([
      killAndReplace('webhook-dispatcher', stack.dispatchers[0]!),
      killAndReplace('scheduler', stack.scheduler),
    ]);
    await until(async () => (await recovery(id)).status === 'COMPLETED', 'it is completed');
    await stack.settled();

    expect(await recovery(id)).toMatchObject({ total: FAILED, done: FAILED });
    const arrived = new Map(
      stack.receiver.posts.map(({ headers }) => [
        String(headers['x-service-delivery-id']),
        String(headers['x-service-event-id']),
      ]),
    );
    expect(arrived).toEqual(failed);
    expect(stack.receiver.posts.length).toBeLessThanOrEqual(FAILED + UNRECORDED);
    expectPostedOnce(stack.receiver, recordedThen);
    expect(new Set(stack.receiver.posts.map(({ headers }) => headers['x-service-attempt']))).toEqual(
      new Set(['11']),
    );
    const sql = `SELECT count(*)::int FROM webhook_deliveries WHERE status = 'SUCCEEDED'`;
    expect(await stack.count(sql)).toBe(FAILED);
  }, 600_000);
});
