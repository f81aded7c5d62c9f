import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppUnderTest, PrivatePostgres, PrivateRedis, WebhookReceiver } from '@posthorn/testing';
import { Api, type Answer } from '../e2e/api.ts';
import { TO_THIS_MACHINE } from '../e2e/receiving.ts';
import { soundEmail, Stack, until } from '../e2e/stack.ts';
import { LEASES_OF_STORES } from './short-leases.ts';

const CALLERS = 6;
const BETWEEN_CALLS_MS = 20;
/** How much goes on before a store is killed, and after it is back. */
const EMAILS_BETWEEN = 100;

describe('Stores that are killed under load', () => {
  let postgres: PrivatePostgres;
  let redis: PrivateRedis;
  let receiver: WebhookReceiver;
  let stack: Stack;
  let apps: AppUnderTest[];
  const accepted: string[] = [];
  const otherAnswers = new Set<number>();
  let isOver = false;

  beforeAll(async () => {
    [postgres, redis, receiver] = await Promise.all([
      PrivatePostgres.start(),
      PrivateRedis.start(),
      WebhookReceiver.start(),
    ]);
    stack = await Stack.start({
      gateways: 2,
      dispatchers: 1,
      databaseUrl: postgres.url,
      redisUrl: redis.url,
      env: {
        ...TO_THIS_MACHINE,
        ...LEASES_OF_STORES,
        BOUNCE_DOMAIN: 'bounces.example.com',
        INBOUND_PORT: '0',
        INBOUND_HOST: '127.0.0.1',
      },
    });
    const more = await Promise.all(
      (['sender', 'scheduler', 'inbound', 'dashboard'] as const).map((name) => stack.startApp(name)),
    );
    apps = [...stack.gateways, stack.sender, stack.scheduler, ...stack.dispatchers, ...more];
    const hook = { url: receiver.url('/hook'), events: ['EMAIL_SENT'] };
    await stack.api().post('/v1/webhooks', hook, { key: stack.tenant.keys.editor });
  });
  afterAll(async () => {
    isOver = true;
    await stack.close();
    await Promise.all([postgres.close(), redis.close(), receiver.close()]);
  });

  /** Sends emails until the test is over, each again and again until it is accepted, as a careful caller does. */
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

  it('lose nothing, double nothing, end no process, and callers are told nothing but 503', async () => {
    const load = Array.from({ length: CALLERS }, (_, n) => call(n));
    await untilMore();
    const kills = [
      () => postgres.crash().then(() => postgres.restart()),
      () => redis.restart(),
      () => Promise.all([redis.restart(), postgres.crash().then(() => postgres.restart())]),
    ];
    for (const kill of kills) {
      await kill();
      await untilMore();
    }
    isOver = true;
    await Promise.all(load);
    await stack.settled();

    expect(apps.filter(({ program }) => program.hasEnded)).toEqual([]);
    expect([...otherAnswers].filter((status) => status !== 503)).toEqual([]);
    expect(stack.sink.messages.flatMap(({ to }) => to).sort()).toEqual(accepted.sort());
    expect(await stack.count('SELECT accepted AS count FROM usage')).toBe(accepted.length);
    const told = (): string[] =>
      receiver.postsTo('/hook').map(({ headers }) => String(headers['webhook-id']));
    await until(() => new Set(told()).size === accepted.length, 'each email is told, once or more often');
  }, 600_000);
});
