import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerAt, type AppUnderTest } from '@posthorn/testing';
import { validEmail, Stack } from '../e2e/stack.ts';

const CALLERS = 6;
const BETWEEN_CALLS_MS = 20;
/** The delay of the relay and receivers, so that much is in flight when a process is frozen. */
const AT_WORK_MS = 50;
const FREEZES = 4;
/** Longer than the lock of a job in Redis, and than the idle timeout of transactions in Postgres. */
const FROZEN_MS = 6_500;
const BETWEEN_FREEZES_MS = 1_000;
const SETTLED_WITHIN_MS = 60_000;
/** The most emails that wait to be sent or told of: a slow machine accepts them faster, and its backlog would grow all the time. */
const MOST_WAITING = 400;

/** The events of each email, for each of two webhooks. */
const EVENTS = ['CONTACT_CREATED', 'EMAIL_SENT'];
const PATHS = ['/one', '/two'];

describe('Processes that are frozen under load, a dispatcher and a sender at a time', () => {
  let pairs: (readonly AppUnderTest[])[];
  const accepted: string[] = [];
  let isOver = false;

  afterAll(() => {
    isOver = true;
  });
  const stack = Stack.forTests({
    dispatchers: 3,
    sink: { script: answerAt('content', { delayMs: AT_WORK_MS }) },
    receives: () => ({ status: 200, afterMs: AT_WORK_MS }),
  });
  beforeAll(async () => {
    const senders = [stack.sender, await stack.startApp('sender')];
    pairs = Array.from({ length: FREEZES }, (_, n) => [stack.dispatchers[n % 3]!, senders[n % 2]!]);
    for (const path of PATHS) {
      const { status } = await stack
        .api()
        .post('/v1/webhooks', { url: stack.receiver.url(path), events: EVENTS });
      expect(status).toBe(200);
    }
  });

  async function call(): Promise<void> {
    for (; !isOver; await sleep(BETWEEN_CALLS_MS)) {
      if (waiting() > MOST_WAITING) continue;
      const email = { ...validEmail(), contactProperties: { name: 'Ann' } };
      expect((await stack.send(email)).status).toBe(200);
      accepted.push(email.to);
    }
  }

  function waiting(): number {
    return (
      accepted.length - Math.min(stack.sink.count, stack.receiver.posts.length / EVENTS.length / PATHS.length)
    );
  }

  async function freeze(apps: readonly AppUnderTest[]): Promise<void> {
    for (const { program } of apps) program.kill('SIGSTOP');
    await sleep(FROZEN_MS);
    for (const { program } of apps) program.kill('SIGCONT');
    await sleep(BETWEEN_FREEZES_MS);
  }

  it('W9: lose nothing and double nothing, not even what was in flight, and everything is recorded within a minute', async () => {
    const load = Promise.all(Array.from({ length: CALLERS }, call));
    for (const pair of pairs) await freeze(pair);
    isOver = true;
    await load;
    await stack.settled(SETTLED_WITHIN_MS);

    expect(stack.sink.messages.flatMap(({ to }) => to).sort()).toEqual(accepted.sort());
    const told = stack.receiver.posts.map(({ headers }) => String(headers['x-service-delivery-id']));
    const deliveries = accepted.length * EVENTS.length * PATHS.length;
    expect(new Set(told).size).toBe(deliveries);
    // A receiver that a busy machine keeps from answering in time gets the delivery again.
    const tooLate = await stack.count(
      `SELECT count(*)::int FROM webhook_attempts WHERE error_class = 'timeout'`,
    );
    expect(told.length - deliveries).toBeLessThanOrEqual(tooLate);
    const sql = `SELECT count(*)::int FROM webhook_deliveries WHERE status = 'SUCCEEDED'`;
    expect(await stack.count(sql)).toBe(deliveries);
  }, 600_000);
});
