import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type Bucket,
  perSecond,
  type RateLimit,
  refill,
  bucketState,
  takeTokens,
  rateVerdicts,
} from './rate-limit.ts';
import { rateLimitPolicy, rateLimitState, wholeSeconds } from './rate-limit-fields.ts';

const FULL: Bucket = { missing: 0, atUs: 0 };
const SECOND = 1_000_000;
const LIMIT: RateLimit = { amount: 100, periodSeconds: 1, burst: 200 };

describe('a token bucket', () => {
  it('R1: allows a burst of 200 at once, and then 100 a second', () => {
    const first = takeTokens(FULL, LIMIT, 500);
    expect(first.granted).toBe(200);
    const halfASecondLater = refill(first.bucket, LIMIT, SECOND / 2);
    expect(takeTokens(halfASecondLater, LIMIT, 500).granted).toBe(50);
    expect(takeTokens(refill(first.bucket, LIMIT, 9_999), LIMIT, 1).granted).toBe(0);
    expect(takeTokens(refill(first.bucket, LIMIT, 10_000), LIMIT, 1).granted).toBe(1);
  });

  it('R1: has no limit where either number is 0', () => {
    expect(perSecond(100, 200)).toEqual(LIMIT);
    expect(perSecond(1, 1)).toEqual({ amount: 1, periodSeconds: 1, burst: 1 });
    expect(perSecond(0, 200)).toBeNull();
    expect(perSecond(100, 0)).toBeNull();
  });

  it('reports the remaining tokens and the time to the next one', () => {
    expect(bucketState(FULL, LIMIT)).toEqual({ allowed: true, remaining: 200, nextAfterMs: 0 });
    const { bucket } = takeTokens(FULL, LIMIT, 200);
    expect(bucketState(bucket, LIMIT)).toEqual({ allowed: false, remaining: 0, nextAfterMs: 10 });
    expect(bucketState(refill(bucket, LIMIT, 4_000), LIMIT)).toMatchObject({ remaining: 0, nextAfterMs: 6 });
  });

  it('gives concurrent requests separate verdicts, in their order', () => {
    const limit: RateLimit = { amount: 1, periodSeconds: 1, burst: 2 };
    const verdicts = rateVerdicts(limit, 3, takeTokens(FULL, limit, 3));
    expect(verdicts.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 1],
      [true, 0],
      [false, 0],
    ]);
  });

  it('never overflows, adds nothing when the clock goes back, and follows a changed limit', () => {
    const { bucket } = takeTokens(refill(FULL, LIMIT, 50 * SECOND), LIMIT, 200);
    expect(refill(bucket, LIMIT, 1_000 * SECOND).missing).toBe(0);
    const half = takeTokens(refill(FULL, LIMIT, 50 * SECOND), LIMIT, 100).bucket;
    expect(refill(half, LIMIT, 10 * SECOND)).toEqual({ missing: half.missing, atUs: 10 * SECOND });
    const smaller: RateLimit = { ...LIMIT, burst: 3 };
    expect(
      bucketState(refill(refill(bucket, smaller, 50 * SECOND), smaller, 50.03 * SECOND), smaller),
    ).toMatchObject({
      remaining: 3,
    });
    expect(bucketState(refill(bucket, smaller, 50 * SECOND), smaller)).toMatchObject({
      remaining: 0,
      nextAfterMs: 10,
    });
    const larger: RateLimit = { ...LIMIT, burst: 250 };
    expect(bucketState(refill(bucket, larger, 50 * SECOND), larger).remaining).toBe(50);
  });

  it('R1: never grants more in any period than the burst plus the refill of the period', () => {
    const limits = fc.record({
      amount: fc.integer({ min: 1, max: 100_000 }),
      periodSeconds: fc.constantFrom(1, 60),
      burst: fc.integer({ min: 1, max: 1_000_000 }),
    });
    const requests = fc.array(
      fc.record({ afterUs: fc.nat({ max: 3 * SECOND }), wanted: fc.integer({ min: 1, max: 500 }) }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(limits, requests, (limit, sequence) => {
        let nowUs = 1_795_000_000 * SECOND;
        let bucket = refill(FULL, limit, nowUs);
        const grants: { atUs: number; granted: number }[] = [];
        for (const { afterUs, wanted } of sequence) {
          nowUs += afterUs;
          const taken = takeTokens(refill(bucket, limit, nowUs), limit, wanted);
          bucket = taken.bucket;
          grants.push({ atUs: nowUs, granted: taken.granted });
        }
        for (const [from, first] of grants.entries()) {
          let sum = 0;
          for (const { atUs, granted } of grants.slice(from)) {
            sum += granted;
            const brought = ((atUs - first.atUs) * limit.amount) / (limit.periodSeconds * SECOND);
            expect(sum).toBeLessThanOrEqual(limit.burst + brought);
          }
        }
      }),
    );
  });
});

describe('the rate limit fields', () => {
  it('R2: have a window in which an empty bucket fills, and the time to the next request', () => {
    expect(rateLimitPolicy('key', LIMIT)).toBe('"key";q=200;w=2');
    expect(rateLimitState('key', { remaining: 150, nextAfterMs: 3.2 })).toBe('"key";r=150;t=1');
    expect(rateLimitPolicy('slow', { amount: 20, periodSeconds: 60, burst: 40 })).toBe('"slow";q=40;w=120');
    expect(rateLimitState('slow', { remaining: 0, nextAfterMs: 2_400 })).toBe('"slow";r=0;t=3');
  });

  it('R2: never have a window of zero seconds, and no wait when the bucket is full', () => {
    expect(rateLimitPolicy('key', { amount: 1_000, periodSeconds: 1, burst: 10 })).toBe('"key";q=10;w=1');
    expect(rateLimitState('key', { remaining: 10, nextAfterMs: 0 })).toBe('"key";r=10');
  });

  it('R2: count waits in whole seconds, at least one', () => {
    expect([0.01, 1_000, 1_000.5, 2_999].map(wholeSeconds)).toEqual([1, 1, 2, 3]);
  });
});
