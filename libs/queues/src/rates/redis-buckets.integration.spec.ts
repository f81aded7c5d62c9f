import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Bucket, type RateLimit, refill, takeTokens } from '@posthorn/domain';
import { PrivateRedis, uniqueQueuePrefix } from '@posthorn/testing';
import type { Demand } from './demand.ts';
import { RedisBuckets } from './redis-buckets.ts';

const FULL: Bucket = { missing: 0, atUs: 0 };
/** More than it takes; these tests are not about how fast a loaded machine is. */
const AMPLE_MS = 5_000;
const IDS = ['a', 'b', 'c'] as const;

type Id = (typeof IDS)[number];
type Step = {
  readonly pauseMs: number;
  readonly asked: readonly { id: Id; burst: number; wanted: number }[];
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
    asked: fc.uniqueArray(aDemand, { selector: ({ id }) => id, minLength: 1, maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 15 },
);

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
  const grantedOf = async (asked: Demand): Promise<number> =>
    (await buckets.take([asked], AMPLE_MS))![0]!.granted;

  it('R1: grant exactly what the model grants, whatever is asked for in whatever order', async () => {
    const seed = Number(process.env['FAST_CHECK_SEED'] ?? Date.now() % 2 ** 31);
    process.stderr.write(`the buckets against their model: FAST_CHECK_SEED=${seed}\n`);
    const agree = fc.asyncProperty(speeds, steps, async (speedOf, sequence) => {
      const policy = randomUUID();
      const model = new Map<Id, Bucket>();
      for (const { pauseMs, asked } of sequence) {
        if (pauseMs > 0) await sleep(pauseMs);
        const demands = asked.map(({ id, burst, wanted }) => ({
          policy,
          id,
          limit: { ...speedOf[id], burst },
          wanted,
        }));
        const grants = (await buckets.take(demands, AMPLE_MS))!;
        const nowUs = grants[0]!.bucket.atUs;
        const expected = demands.map(({ id, limit, wanted }) =>
          takeTokens(refill(model.get(id) ?? FULL, limit, nowUs), limit, wanted),
        );
        expect(grants).toEqual(expected);
        demands.forEach(({ id }, index) => model.set(id, expected[index]!.bucket));
      }
    });
    await fc.assert(agree, { seed, numRuns: 200 });
    expect(errors).toEqual([]);
  });

  it('R1: are gone by themselves when they would be full', async () => {
    await redis.flush();
    await grantedOf(demand({ amount: 4, periodSeconds: 1, burst: 200 }, 20));
    await grantedOf(demand({ amount: 20, periodSeconds: 60, burst: 40 }, 40));
    const keys = (await redis.ask('KEYS *')).match(new RegExp(`${prefix}:\\S+`, 'g'))!;
    expect(keys).toHaveLength(2);
    const ttls = await Promise.all(
      keys.map(async (key) => Number((await redis.ask(`PTTL ${key}`)).slice(1))),
    );
    const [short, long] = ttls.sort((one, other) => one - other) as [number, number];
    expect(short).toBeLessThanOrEqual(5_000);
    expect(long).toBeGreaterThan(110_000);
    expect(long).toBeLessThanOrEqual(120_000);
    while (!/^\*1\r/.test(await redis.ask('KEYS *'))) await sleep(50);
  });

  it('R1: lie in one slot of a cluster, whatever their names', async () => {
    await redis.flush();
    await buckets.take(
      [
        demand({ amount: 1, periodSeconds: 60, burst: 9 }, 1),
        demand({ amount: 1, periodSeconds: 60, burst: 9 }, 1),
      ],
      AMPLE_MS,
    );
    const keys = (await redis.ask('KEYS *')).match(/\S+:\{rates\}:p:\S+/g)!;
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(key.startsWith(`${prefix}:`)).toBe(true);
  });

  it('R3: load the script again when Redis has forgotten it, and answer that very call', async () => {
    const limit: RateLimit = { amount: 1, periodSeconds: 60, burst: 10 };
    expect(await grantedOf(demand(limit, 4, 'forgotten'))).toBe(4);
    expect(await grantedOf(demand(limit, 4, 'forgotten'))).toBe(4);
    await redis.ask('SCRIPT FLUSH');
    expect(await grantedOf(demand(limit, 4, 'forgotten'))).toBe(2);
    await redis.flush();
    expect(await grantedOf(demand(limit, 4, 'forgotten'))).toBe(4);
    expect(errors).toEqual([]);
  });

  it('R3: take what another has put under their name for a full bucket', async () => {
    const limit: RateLimit = { amount: 1, periodSeconds: 60, burst: 10 };
    await redis.ask(`SET ${prefix}:{rates}:p:foreign nonsense`);
    expect(await grantedOf(demand(limit, 4, 'foreign'))).toBe(4);
    expect(await grantedOf(demand(limit, 40, 'foreign'))).toBe(6);
  });
});
