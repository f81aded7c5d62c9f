import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import { PrivateRedis } from '@posthorn/testing';
import { newApiKeySecret } from '@posthorn/signing';
import { rateIn } from './rates.ts';
import { Stack, until } from './stack.ts';

const EMAIL = '/v1/emails/trs_01h455vb4pex5vsknk084sn02q';
/** The limiter's 50 ms, the rest of a request, and a margin for a loaded machine. */
const BOUND_MS = 1_000;
const AT_ONCE = 4;

describe('without Redis', () => {
  let redis: PrivateRedis;
  afterAll(() => redis.thaw());
  const stack = Stack.forTests(async () => {
    redis = await PrivateRedis.start();
    return {
      redisUrl: redis.url,
      sends: false,
      env: {
        // Enough for all calls, and slow to refill, so that taken tokens are visible in Redis.
        RATE_LIMIT_PER_SECOND: '10',
        RATE_LIMIT_BURST: '1000000',
        FAILED_AUTHENTICATIONS_PER_MINUTE: '20',
      },
    };
  });
  afterAll(() => redis.close());

  /**
   * Asks without a pause while something happens to Redis; every answer must be a 404, quickly: where Redis were waited for, each
   * request would take longer, while a machine that stands still for a moment holds up those alone that are under way.
   *
   * @param happening given what waits for so many more answers
   */
  async function whileAsked(
    happening: (answered: (more: number) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    let goesOn = true;
    const durations: number[] = [];
    const ask = async (): Promise<void> => {
      while (goesOn) {
        const answer = await stack.api().get(EMAIL);
        if (answer.status !== 404) throw new Error(`${answer.status}: ${answer.text}`);
        rateIn(answer);
        durations.push(answer.durationMs);
      }
    };
    const asking = Promise.all(Array.from({ length: AT_ONCE }, ask));
    const answered = (more: number): Promise<void> => {
      const wanted = durations.length + more;
      return until(() => durations.length >= wanted, `${more} more requests are answered`);
    };
    await Promise.race([asking, happening(answered).finally(() => (goesOn = false))]);
    await asking;
    expect(durations.filter((ms) => ms > BOUND_MS).length).toBeLessThan(durations.length / 2);
  }

  const isShared = async (): Promise<boolean> => {
    await stack.api().get(EMAIL);
    return (await redis.ask('KEYS *{rates}:key:*')).startsWith('*1');
  };

  it('R3: serves everything while it is emptied, stopped and started under load', async () => {
    await until(isShared, 'the gateway has found Redis');
    await whileAsked(async (answered) => {
      await answered(40);
      await redis.flush();
      await redis.ask('SCRIPT FLUSH');
      await answered(40);
      await redis.stop();
      await answered(100);
      await redis.restart();
      await answered(40);
    });
    await until(isShared, 'the gateway is back at Redis');
  });

  it('R3: serves everything while it is frozen', async () => {
    await whileAsked(async (answered) => {
      await answered(40);
      redis.freeze();
      await Promise.all([answered(100), sleep(4_000)]);
      redis.thaw();
      await answered(40);
    });
    await until(isShared, 'the gateway is back at Redis');
  });

  it('R3: still limits failed authentications locally', async () => {
    await redis.stop();
    const begunAt = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => stack.api().get(EMAIL, { key: newApiKeySecret() })),
    );
    const failed = answers.filter(({ status }) => status === 401).length;
    expect(failed).toBeGreaterThanOrEqual(20);
    // One more is allowed every three seconds.
    expect(failed).toBeLessThanOrEqual(25 + (performance.now() - begunAt) / 3_000);
    expect((await stack.api().get(EMAIL)).status).toBe(404);
    await redis.restart();
  });
});
