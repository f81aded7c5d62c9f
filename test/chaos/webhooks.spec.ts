import { afterEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { uuidOf } from '@posthorn/kernel';
import { eventShape } from '@posthorn/domain';
import { type AppUnderTest, PrivatePostgres, PrivateRedis } from '@posthorn/testing';
import { Stack, type StackOptions, until, takesAll } from '../e2e/stack.ts';
import { expectPostedOnce, recordedDeliveries } from './delivery-checks.ts';
import { FEW_CONNECTIONS, UNRECORDED } from './few-connections.ts';
import { SHORT_LEASES } from './short-leases.ts';

/** Few enough for a slow machine to write them before the statement times out. */
const EVENTS_PER_STATEMENT = 500;

describe('dispatchers', () => {
  let stack: Stack;
  const undo: (() => Promise<void>)[] = [];

  afterEach(async () => {
    await stack.close();
    for (const action of undo.splice(0)) await action();
  });

  async function start(options: StackOptions = {}): Promise<void> {
    const env = { ...FEW_CONNECTIONS, ...options.env };
    stack = await Stack.start({ dispatchers: 2, receives: takesAll, ...options, env });
    for (const path of ['/one', '/two']) {
      const body = { url: stack.receiver.url(path), events: ['CONTACT_CREATED'] };
      expect((await stack.api().post('/v1/webhooks', body)).status).toBe(200);
    }
  }

  /** Records events of the tenant, each for both of its webhooks. */
  async function recordEvents(count: number): Promise<void> {
    for (let from = 0; from < count; from += EVENTS_PER_STATEMENT)
      await recordGroup(from + 1, Math.min(from + EVENTS_PER_STATEMENT, count));
  }

  async function recordGroup(first: number, last: number): Promise<void> {
    await stack.database.pool.query(
      `WITH event AS MATERIALIZED (
         SELECT new_uuid_v7(now()) AS id, n FROM generate_series($3::int, $4::int) AS n
       ), due AS (
         INSERT INTO outbox (subject_id, queue, lane_id, state, due_at) SELECT id, 'event', $2, 'ready', now() FROM event
       )
       INSERT INTO events (id, workspace_id, type, payload, webhook_ids, created_at)
       SELECT id, $1, 'CONTACT_CREATED', jsonb_set($5, '{data,contact,properties,n}', to_jsonb(n))::text,
              ARRAY(SELECT w.id FROM webhooks w), now()
       FROM   event`,
      [
        uuidOf(stack.tenant.workspaceId),
        `${stack.tenant.workspaceId}.events`,
        first,
        last,
        eventShape('CONTACT_CREATED').example,
      ],
    );
  }

  /** The deliveries that have arrived, by id, each with its event. */
  function deliveries(): Map<string, string> {
    return new Map(
      stack.receiver.posts.map(({ headers }) => [
        String(headers['x-service-delivery-id']),
        String(headers['x-service-event-id']),
      ]),
    );
  }

  async function expectEachOnce(events: number, extra = 0): Promise<void> {
    await stack.settled();
    const arrived = deliveries();
    expect(arrived.size).toBe(2 * events);
    expect(new Set(arrived.values()).size).toBe(events);
    expect(stack.receiver.posts.length - arrived.size).toBeLessThanOrEqual(extra);
    const sql = `SELECT count(*)::int FROM webhook_deliveries WHERE status = 'SUCCEEDED'`;
    expect(await stack.count(sql)).toBe(2 * events);
  }

  const posted = (count: number, what: string) => until(() => stack.receiver.posts.length >= count, what);
  const idOfFirst = () => stack.dispatchers[0] as AppUnderTest;

  it('W9: deliver everything when one is killed among 10,000 deliveries; only those in flight may be doubled, none that was recorded', async () => {
    await start({ env: SHORT_LEASES });
    stack.receiver.answer = () => ({ status: 200, afterMs: 5 });
    await recordEvents(5_000);
    await posted(1_000, 'work is under way');
    idOfFirst().program.kill('SIGKILL');
    await idOfFirst().program.exit;
    const recordedThen = await recordedDeliveries(stack);
    await expectEachOnce(5_000, UNRECORDED);
    expectPostedOnce(stack.receiver, recordedThen);
  });

  it('W9: post nothing twice when one gets SIGTERM, which posts nothing after that', async () => {
    await start();
    stack.receiver.answer = () => ({ status: 200, afterMs: 20 });
    await recordEvents(1_000);
    await posted(200, 'work is under way');
    idOfFirst().program.kill('SIGTERM');
    expect(await idOfFirst().program.exit).toEqual({ code: 0, signal: null });
    await expectEachOnce(1_000);
  });

  it('W9: deliver everything after a FLUSHALL, once', async () => {
    const redis = await PrivateRedis.start();
    undo.push(() => redis.close());
    await start({ redisUrl: redis.url });
    stack.receiver.answer = () => ({ status: 200, afterMs: 5 });
    await recordEvents(2_000);
    await posted(500, 'work is under way');
    await redis.flush();
    await expectEachOnce(2_000);
  });

  it('W9: keep known outcomes while Postgres is unavailable, and post nothing twice', async () => {
    const postgres = await PrivatePostgres.start();
    undo.push(() => postgres.close());
    await start({ databaseUrl: postgres.url });
    stack.receiver.answer = () => ({ status: 200, afterMs: 10 });
    await recordEvents(1_000);
    await posted(200, 'work is under way');
    await postgres.stop();
    await sleep(5_000);
    await postgres.restart();
    await expectEachOnce(1_000);
  });
});
