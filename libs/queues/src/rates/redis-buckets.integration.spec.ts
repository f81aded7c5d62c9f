import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { type Bucket, type Grant, type RateLimit, refill, takeTokens, unitsPerToken } from '@posthorn/domain';
import { PrivateRedis, uniqueQueuePrefix } from '@posthorn/testing';
import type { Demand } from './demand.ts';
import { RedisBuckets } from './redis-buckets.ts';

const FULL: Bucket = { missing: 0, atUs: 0 };
/** Longer than any call takes, even on a loaded machine. */
const AMPLE_MS = 5_000;
const IDS = ['a', 'b', 'c'] as const;

type Id = (typeof IDS)[number];
type Step = {
  readonly pauseMs: number;
  readonly requests: readonly { id: Id; burst: number; wanted: number }[];
};

const aSpeed = fc.record({
  amount: fc.constantFrom(1, 3, 7, 100, 333, 1_000, 99_991, 100_000),
  periodSeconds: fc.constantFrom(1, 60),
});
const speeds = fc.record({ a: aSpeed, b: aSpeed, c: aSpeed });
const aBurst = fc.oneof(fc.integer({ min: 1, max: 50 }), fc.constant(1_000_000));
const aDemand = fc.record({
  id: fc.constantFrom(...IDS),
  burst: aBurst,
  wanted: fc.integer({ min: 1, max: 60 }),
});
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    pauseMs: fc.constantFrom(0, 0, 0, 1, 3, 12),
    requests: fc.uniqueArray(aDemand, { selector: ({ id }) => id, minLength: 1, maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 15 },
);

class Disturbed extends Error {}

describe('the buckets in Redis', () => {
  const prefix = uniqueQueuePrefix();
  let redis: PrivateRedis;
  let buckets: RedisBuckets;
  beforeAll(async () => {
    redis = await PrivateRedis.start();
    buckets = new RedisBuckets({ url: redis.url, prefix }, (error) => void errors.push(error));
    while (!buckets.isReachable) await sleep(5);
  });
  afterAll(async () => {
    buckets.close();
    await redis.close();
  });
  const errors: Error[] = [];

  const demand = (limit: RateLimit, wanted: number, id: string = randomUUID()): Demand => ({
    policy: 'p',
    id,
    limit,
    wanted,
  });
  const grantedOf = async (requests: Demand): Promise<number> => (await take([requests]))[0]!.granted;

  async function take(demands: readonly Demand[]): Promise<Grant[]> {
    const grants = await buckets.take(demands, AMPLE_MS);
    if (grants === undefined) throw new Disturbed();
    return grants;
  }

  /** On a busy machine, a call may time out, and what it granted is unknown: the scenario is repeated in that case. */
  async function undisturbed<Result>(scene: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await scene();
      } catch (error) {
        if (!(error instanceof Disturbed)) throw error;
        while (!buckets.isReachable) await sleep(5);
        errors.length = 0;
      }
    }
  }

  it('R1: grant exactly what the model grants, whatever is asked for in whatever order', async () => {
    const seed = Number(process.env['FAST_CHECK_SEED'] ?? Date.now() % 2 ** 31);
    process.stderr.write(`the buckets against their model: FAST_CHECK_SEED=${seed}\n`);
    const agree = fc.asyncProperty(speeds, steps, async (speedOf, sequence) => {
      await undisturbed(async () => {
        const policy = randomUUID();
        const model = new Map<Id, Bucket>();
        for (const { pauseMs, requests } of sequence) {
          if (pauseMs > 0) await sleep(pauseMs);
          const demands = requests.map(({ id, burst, wanted }) => ({
            policy,
            id,
            limit: { ...speedOf[id], burst },
            wanted,
          }));
          const grants = await take(demands);
          const nowUs = grants[0]!.bucket.atUs;
          const expected = demands.map(({ id, limit, wanted }) =>
            takeTokens(refill(model.get(id) ?? FULL, limit, nowUs), limit, wanted),
          );
          expect(grants).toEqual(expected);
          demands.forEach(({ id }, index) => model.set(id, expected[index]!.bucket));
        }
      });
    });
    await fc.assert(agree, { seed, numRuns: 200 });
    expect(errors).toEqual([]);
  });

  it('R1: expire when they would be full', async () => {
    await redis.flush();
    const begunAt = performance.now();
    await undisturbed(() => grantedOf(demand({ amount: 20, periodSeconds: 60, burst: 40 }, 40, 'long')));
    await undisturbed(() => grantedOf(demand({ amount: 4, periodSeconds: 1, burst: 200 }, 20, 'short')));
    // The bucket of the short period may have expired by now.
    const ttl = async (id: string): Promise<number> =>
      Number((await redis.ask(`PTTL ${prefix}:{rates}:p:${id}`)).slice(1));
    const [long, short] = [await ttl('long'), await ttl('short')];
    expect(short).toBeLessThanOrEqual(5_000);
    // Rounded to milliseconds, and by another clock.
    expect(long).toBeGreaterThan(119_000 - (performance.now() - begunAt));
    expect(long).toBeLessThanOrEqual(120_000);
    while (!/^\*1\r/.test(await redis.ask('KEYS *'))) await sleep(50);
  });

  it('R1: are in one hash slot of a cluster, whatever their names', async () => {
    const limit: RateLimit = { amount: 1, periodSeconds: 60, burst: 9 };
    await undisturbed(async () => {
      await redis.flush();
      await take([demand(limit, 1), demand(limit, 1)]);
    });
    const keys = (await redis.ask('KEYS *')).match(/\S+:\{rates\}:p:\S+/g)!;
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(key.startsWith(`${prefix}:`)).toBe(true);
  });

  it('R3: load the script again when Redis no longer has it, and still answer that call', async () => {
    const limit: RateLimit = { amount: 1, periodSeconds: 60, burst: 10 };
    const granted = await undisturbed(async () => {
      await redis.flush();
      const before = [
        await grantedOf(demand(limit, 4, 'forgotten')),
        await grantedOf(demand(limit, 4, 'forgotten')),
      ];
      await redis.ask('SCRIPT FLUSH');
      const without = await grantedOf(demand(limit, 4, 'forgotten'));
      await redis.flush();
      return [...before, without, await grantedOf(demand(limit, 4, 'forgotten'))];
    });
    expect(granted).toEqual([4, 4, 2, 4]);
    expect(errors).toEqual([]);
  });

  it('R1: refuse nobody because the clock of Redis was set back', async () => {
    const limit: RateLimit = { amount: 1, periodSeconds: 60, burst: 10 };
    const inAnHourUs = (Date.now() + 3_600_000) * 1_000;
    const granted = await undisturbed(async () => {
      await redis.ask(`SET ${prefix}:{rates}:p:ahead "${4 * unitsPerToken(limit)} ${inAnHourUs}"`);
      return grantedOf(demand(limit, 10, 'ahead'));
    });
    expect(granted).toBe(6);
  });

  it('R3: ask Redis again a second after it was too slow for once, and later only if it stays slow', async () => {
    const limit: RateLimit = { amount: 1, periodSeconds: 60, burst: 10 };
    let nowMs = performance.now();
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const takeTooSlowly = async (): Promise<void> => {
      redis.freeze();
      expect(await buckets.take([demand(limit, 1)], 10)).toBeUndefined();
      redis.thaw();
    };
    const isAskedAfter = async (ms: number): Promise<boolean> => {
      nowMs += ms;
      // On a busy machine, the connection may have been replaced meanwhile.
      for (let tries = 0; tries < 40 && !buckets.isReachable; tries += 1) await sleep(50);
      return buckets.isReachable;
    };
    await takeTooSlowly();
    const afterFirst = await isAskedAfter(1_001);
    await undisturbed(() => take([demand(limit, 1)]));
    await takeTooSlowly();
    const afterSecond = await isAskedAfter(1_001);
    await takeTooSlowly();
    const inARow = [await isAskedAfter(1_001), await isAskedAfter(1_001)];
    clock.mockRestore();
    errors.length = 0;
    expect([afterFirst, afterSecond, ...inARow]).toEqual([true, true, false, true]);
  });

  it('R3: say that Redis was lost, in words that name it', async () => {
    await undisturbed(() => grantedOf(demand({ amount: 1, periodSeconds: 60, burst: 10 }, 1)));
    redis.freeze();
    const lost = await buckets.take([demand({ amount: 1, periodSeconds: 60, burst: 10 }, 1)], AMPLE_MS);
    redis.thaw();
    const said = errors.splice(0).map(({ message }) => message);
    expect(lost).toBeUndefined();
    expect(said).toContain('Redis cannot be reached, or was lost before it answered');
    expect(said.filter((message) => /max retries|Socket timeout/.test(message))).toEqual([]);
    while (!buckets.isReachable) await sleep(5);
    errors.length = 0;
  });

  it('R3: treat a foreign value under their key as a full bucket', async () => {
    const limit: RateLimit = { amount: 1, periodSeconds: 60, burst: 10 };
    const granted = await undisturbed(async () => {
      await redis.ask(`SET ${prefix}:{rates}:p:foreign nonsense`);
      return [await grantedOf(demand(limit, 4, 'foreign')), await grantedOf(demand(limit, 40, 'foreign'))];
    });
    expect(granted).toEqual([4, 6]);
  });

  it.each(['HSET', 'RPUSH', 'SADD'])(
    'R3: take what is no text under their name (%s) for a full bucket',
    async (command) => {
      const limit: RateLimit = { amount: 1, periodSeconds: 60, burst: 10 };
      const granted = await undisturbed(async () => {
        await redis.ask(`DEL ${prefix}:{rates}:p:odd`);
        await redis.ask(`${command} ${prefix}:{rates}:p:odd a${command === 'HSET' ? ' b' : ''}`);
        return [await grantedOf(demand(limit, 4, 'odd')), await grantedOf(demand(limit, 40, 'odd'))];
      });
      expect(granted).toEqual([4, 6]);
    },
  );
});
