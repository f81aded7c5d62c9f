import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AppUnderTest, PrivatePostgres, PrivateRedis } from '@posthorn/testing';
import { Stack, until, takesAll } from '../e2e/stack.ts';
import { RetryingCallers } from './retrying-callers.ts';
import { LEASES_FOR_OUTAGES } from './short-leases.ts';

/** Longer than Postgres takes to come back from a slow disk: an email whose outcome cannot be recorded before its lease ends is rightly sent again. */
const LONGER_LEASES = { ...LEASES_FOR_OUTAGES, LEASE_MS: '45000' };

/** How many emails arrive before a store is killed, and after it is back. */
const EMAILS_BETWEEN = 100;

describe('Stores that are killed under load', () => {
  let postgres: PrivatePostgres;
  let redis: PrivateRedis;
  let apps: AppUnderTest[];
  let callers: RetryingCallers;

  afterAll(() => void callers.stop());
  const stack = Stack.forTests(async () => {
    [postgres, redis] = await Promise.all([PrivatePostgres.start(), PrivateRedis.start()]);
    return {
      gateways: 2,
      receives: takesAll,
      databaseUrl: postgres.url,
      redisUrl: redis.url,
      env: {
        ...LONGER_LEASES,
        BOUNCE_DOMAIN: 'bounces.example.com',
        INBOUND_PORT: '0',
        INBOUND_HOST: '127.0.0.1',
      },
    };
  });
  beforeAll(async () => {
    const more = await Promise.all(
      (['sender', 'scheduler', 'inbound', 'dashboard'] as const).map((name) => stack.startApp(name)),
    );
    apps = [...stack.gateways, stack.sender, stack.scheduler, ...stack.dispatchers, ...more];
    const hook = { url: stack.receiver.url('/hook'), events: ['EMAIL_SENT'] };
    await stack.api().post('/v1/webhooks', hook, { key: stack.tenant.keys.editor });
  });
  afterAll(() => Promise.all([postgres.close(), redis.close()]));

  it('lose nothing, double nothing, end no process, and callers get no error but 503', async () => {
    callers = new RetryingCallers(stack);
    await callers.untilMore(EMAILS_BETWEEN);
    const kills = [
      () => postgres.crash().then(() => postgres.restart()),
      () => redis.restart(),
      () => Promise.all([redis.restart(), postgres.crash().then(() => postgres.restart())]),
    ];
    for (const kill of kills) {
      await kill();
      await callers.untilMore(EMAILS_BETWEEN);
    }
    await callers.stop();
    await stack.settled();

    const { accepted } = callers;
    expect(apps.filter(({ program }) => program.hasEnded)).toEqual([]);
    expect([...callers.otherStatuses].filter((status) => status !== 503)).toEqual([]);
    expect(stack.sink.messages.flatMap(({ to }) => to).sort()).toEqual(accepted.sort());
    expect(await stack.count('SELECT accepted AS count FROM usage')).toBe(accepted.length);
    const told = (): string[] =>
      stack.receiver.postsTo('/hook').map(({ headers }) => String(headers['webhook-id']));
    await until(() => new Set(told()).size === accepted.length, 'each email is told, once or more often');
  }, 600_000);
});
