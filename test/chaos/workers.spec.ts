import { afterEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppUnderTest, PrivateRedis, type SinkMessage } from '@posthorn/testing';
import { newRecipient, Stack, type StackOptions, until } from '../e2e/stack.ts';
import { headerValues } from '../e2e/mail.ts';
import { seedEmails } from './seed.ts';
import { SHORT_LEASES } from './short-leases.ts';

const CONNECTIONS = 5;
/** The most emails that a process may have transmitted but not recorded. */
const UNRECORDED = 8 * CONNECTIONS;

describe('two workers', () => {
  let stack: Stack;
  let redis: PrivateRedis | undefined;
  let second: AppUnderTest;
  afterEach(async () => {
    await stack.close();
    await redis?.close();
    redis = undefined;
  });

  async function start(delayMs: number, options: StackOptions = {}): Promise<void> {
    stack = await Stack.start({
      ...options,
      env: { ...options.env, SMTP_CONNECTIONS: String(CONNECTIONS) },
      sink: { script: (stage) => (stage === 'content' && delayMs > 0 ? { delayMs } : undefined) },
    });
    second = await stack.startApp('sender');
  }

  /** How often each message has arrived, by Message-ID. */
  function arrivals(messages: readonly SinkMessage[]): Map<string, number> {
    const counts = new Map<string, number>();
    for (const message of messages) {
      const id = headerValues(message, 'Message-ID')[0]!;
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return counts;
  }

  async function seed(count: number): Promise<{ to: string; ids: string[] }> {
    const to = newRecipient();
    const ids = await seedEmails(stack.database, {
      workspaceId: stack.tenant.workspaceId,
      count,
      lane: 'bulk',
      to,
    });
    return { to, ids };
  }

  /** The Message-IDs of the emails that are recorded as sent now. */
  async function recorded(): Promise<Set<string>> {
    const { rows } = await stack.database.pool.query<{ id: string }>(
      'SELECT message_id AS id FROM emails WHERE sent_at IS NOT NULL',
    );
    return new Set(rows.map(({ id }) => `<${id}>`));
  }

  /** Checks that emails that were recorded then have arrived once; others may have arrived twice, and are marked if so. */
  async function expectOnlyUnrecordedTwice(to: string, recordedThen: ReadonlySet<string>): Promise<void> {
    const arrived = arrivals(stack.mailsTo(to));
    const twice = [...arrived.values()].filter((count) => count > 1).length;
    expect(recordedThen.size).toBeGreaterThan(0);
    expect([...recordedThen].filter((id) => arrived.get(id) !== 1)).toEqual([]);
    expect(twice).toBeLessThanOrEqual(UNRECORDED);
    expect(await marked()).toBeGreaterThanOrEqual(twice);
  }
  const marked = (): Promise<number> =>
    stack.count('SELECT count(DISTINCT email_id)::int FROM email_events WHERE duplicate_possible');

  it('process no row twice while its lease is valid', async () => {
    await start(0);
    const { to } = await seed(3_000);
    await stack.settled();
    expect(arrivals(stack.mailsTo(to)).size).toBe(3_000);
    expect(stack.mailsTo(to)).toHaveLength(3_000);
    expect(await marked()).toBe(0);
    expect(second.program.output).not.toContain('"level":"error"');
  });

  it('send everything after a FLUSHALL, without intervention', async () => {
    redis = await PrivateRedis.start();
    await start(5, { redisUrl: redis.url });
    const { to } = await seed(1_500);
    await until(() => stack.mailsTo(to).length > 100, 'work is under way');
    await redis.flush();
    await until(() => stack.mailsTo(to).length > 500, 'work goes on');
    await redis.flush();
    await stack.settled();
    expect(stack.mailsTo(to)).toHaveLength(1_500);
    expect(arrivals(stack.mailsTo(to)).size).toBe(1_500);
  });

  it('send the emails that a killed one had claimed; only those may be doubled, with a mark, and none that was recorded', async () => {
    await start(20, { env: SHORT_LEASES });
    const { to } = await seed(1_500);
    await until(() => stack.mailsTo(to).length > 200, 'work is under way');
    stack.sender.program.kill('SIGKILL');
    await stack.sender.program.exit;
    const recordedThen = await recorded();
    // The other goes on.
    await stack.settled();
    expect(arrivals(stack.mailsTo(to)).size).toBe(1_500);
    await expectOnlyUnrecordedTwice(to, recordedThen);
    expect(
      await stack.count(`SELECT count(*)::int FROM emails WHERE status = 'SENT' AND sent_at IS NOT NULL`),
    ).toBe(1_500);
  });

  it('send the emails that a frozen one had claimed; when it continues, its late outcomes change no state', async () => {
    await start(20, { env: SHORT_LEASES });
    const { to } = await seed(1_000);
    await until(() => stack.mailsTo(to).length > 200, 'work is under way');
    stack.sender.program.kill('SIGSTOP');
    const recordedThen = await recorded();
    await stack.settled();
    const statesBefore = await states();
    stack.sender.program.kill('SIGCONT');
    await sleep(4_000);
    expect(await states()).toEqual(statesBefore);
    expect(arrivals(stack.mailsTo(to)).size).toBe(1_000);
    await expectOnlyUnrecordedTwice(to, recordedThen);
    // It works again.
    second.program.kill('SIGKILL');
    const { to: later } = await seed(20);
    await until(() => stack.mailsTo(later).length === 20, 'the thawed one serves');
  });

  async function states(): Promise<unknown[]> {
    const { rows } = await stack.database.pool.query<object>(
      'SELECT id, status, sent_at FROM emails ORDER BY id',
    );
    return rows;
  }
});
