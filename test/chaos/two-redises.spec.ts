import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AppUnderTest, FaultProxy, PrivateRedis } from '@posthorn/testing';
import { Stack, until } from '../e2e/stack.ts';
import { RetryingCallers } from './retrying-callers.ts';

/** How many emails arrive before a Redis is replaced, and after it. */
const EMAILS_BETWEEN = 150;

describe('When a replica of Redis takes over, and the old primary keeps half of the apps', () => {
  let old: PrivateRedis;
  let young: PrivateRedis;
  /** The address that follows the primary. */
  let proxy: FaultProxy;
  let apps: AppUnderTest[];
  let callers: RetryingCallers;

  afterAll(() => void callers.stop());
  const stack = Stack.forTests(async () => {
    [old, young] = await Promise.all([PrivateRedis.start(), PrivateRedis.start()]);
    proxy = await FaultProxy.before(old.url);
    return { redisUrl: old.url };
  });
  beforeAll(async () => {
    const followers = (['gateway', 'sender'] as const).map((name) =>
      stack.startApp(name, { REDIS_URL: proxy.urlFor(old.url) }),
    );
    const [gateway, sender] = await Promise.all(followers);
    stack.gateways.push(gateway!);
    apps = [...stack.gateways, stack.sender, stack.scheduler, sender!];
  });
  afterAll(() => Promise.all([proxy.close(), old.close(), young.close()]));

  it('every request is served, nothing is lost, and nothing is sent twice', async () => {
    callers = new RetryingCallers(stack);
    await young.ask(`REPLICAOF 127.0.0.1 ${old.port}`);
    await until(
      async () => (await young.ask('INFO replication')).includes('master_link_status:up'),
      'the replica follows',
    );
    await callers.untilMore(EMAILS_BETWEEN);
    // From here on, both have the same jobs, active and waiting.
    await young.ask('REPLICAOF NO ONE');
    proxy.redirectTo(young.url);
    proxy.cutAll();
    await callers.untilMore(EMAILS_BETWEEN);
    await callers.stop();
    await stack.settled();

    expect([...callers.otherStatuses]).toEqual([]);
    expect(apps.filter(({ program }) => program.hasEnded)).toEqual([]);
    expect(stack.sink.messages.flatMap(({ to }) => to).sort()).toEqual(callers.accepted.sort());
  }, 400_000);
});
