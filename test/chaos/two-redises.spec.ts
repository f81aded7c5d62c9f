import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppUnderTest, FaultProxy, PrivateRedis } from '@posthorn/testing';
import { Api, type Answer } from '../e2e/api.ts';
import { soundEmail, Stack, until } from '../e2e/stack.ts';

const CALLERS = 6;
const BETWEEN_CALLS_MS = 20;
/** How much goes on before a Redis is replaced, and after it. */
const EMAILS_BETWEEN = 150;

describe('When a replica of Redis takes over, and the old primary keeps half of the apps', () => {
  let old: PrivateRedis;
  let young: PrivateRedis;
  /** The address that follows the primary. */
  let proxy: FaultProxy;
  let stack: Stack;
  let apps: AppUnderTest[];
  const accepted: string[] = [];
  const otherAnswers = new Set<number>();
  let isOver = false;

  beforeAll(async () => {
    [old, young] = await Promise.all([PrivateRedis.start(), PrivateRedis.start()]);
    proxy = await FaultProxy.before(old.url);
    stack = await Stack.start({ redisUrl: old.url });
    const followers = (['gateway', 'sender'] as const).map((name) =>
      stack.startApp(name, { REDIS_URL: proxy.urlFor(old.url) }),
    );
    const [gateway, sender] = await Promise.all(followers);
    stack.gateways.push(gateway!);
    apps = [...stack.gateways, stack.sender, stack.scheduler, sender!];
  });
  afterAll(async () => {
    isOver = true;
    await stack.close();
    await Promise.all([proxy.close(), old.close(), young.close()]);
  });

  async function call(caller: number): Promise<void> {
    for (let n = caller; !isOver; n += 1) {
      const api = new Api(stack.gateways[n % 2]!.url, stack.tenant.keys.apiUser);
      const email = { ...soundEmail(), idempotencyKey: randomUUID() };
      for (let answer: Answer | undefined; answer?.status !== 200; await sleep(BETWEEN_CALLS_MS)) {
        answer = await api.post('/v1/emails', email);
        if (answer.status === 200) accepted.push(email.to);
        else otherAnswers.add(answer.status);
      }
    }
  }

  async function untilMore(): Promise<void> {
    const [acceptedBefore, arrivedBefore] = [accepted.length, stack.sink.messages.length];
    await until(() => accepted.length >= acceptedBefore + EMAILS_BETWEEN, 'emails are accepted');
    await until(() => stack.sink.messages.length >= arrivedBefore + EMAILS_BETWEEN, 'emails arrive');
  }

  it('every request is served, nothing is lost, and nothing is sent twice', async () => {
    const load = Array.from({ length: CALLERS }, (_, n) => call(n));
    await young.ask(`REPLICAOF 127.0.0.1 ${old.port}`);
    await until(
      async () => (await young.ask('INFO replication')).includes('master_link_status:up'),
      'the replica follows',
    );
    await untilMore();
    // Both have the same jobs from here on, in work and waiting.
    await young.ask('REPLICAOF NO ONE');
    proxy.leadTo(young.url);
    proxy.cutAll();
    await untilMore();
    isOver = true;
    await Promise.all(load);
    await stack.settled();

    expect([...otherAnswers]).toEqual([]);
    expect(apps.filter(({ program }) => program.hasEnded)).toEqual([]);
    expect(stack.sink.messages.flatMap(({ to }) => to).sort()).toEqual(accepted.sort());
  }, 400_000);
});
