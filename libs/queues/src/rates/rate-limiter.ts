import { hash } from 'node:crypto';
import { Coalescer } from '@posthorn/kernel';
import { type Grant, type RateLimit, type RateVerdict, rateVerdicts } from '@posthorn/domain';
import type { RedisOptions } from '../connections.ts';
import { type TokenRequest, type Demand, groupByBucket } from './demand.ts';
import { LocalBuckets } from './local-buckets.ts';
import { RedisBuckets } from './redis-buckets.ts';

/** How long a request waits for the limiter at most. */
const MAX_WAIT_MS = 50;
const MAX_REQUESTS_PER_GROUP = 500;
/** About 10 MB a policy. */
const MAX_LOCAL_BUCKETS = 50_000;
/** Of base64url: 132 bits, so that collisions do not occur. */
const ID_CHARACTERS = 22;

interface RateLimiterOptions extends RedisOptions {
  readonly onError: (error: Error) => void;
}

interface TimedTokenRequest extends TokenRequest {
  readonly atMs: number;
}

/**
 * A rate limiter that all gateways share: token buckets in Redis. Concurrent requests are batched into one call. While Redis is down or slow, this process
 * limits locally, starting from the last known state of the buckets: nothing waits longer than 50 ms, and nothing fails because of Redis.
 */
export class RateLimiter {
  private readonly shared: RedisBuckets;
  private readonly local = new LocalBuckets(MAX_LOCAL_BUCKETS);
  private readonly groups: Coalescer<TimedTokenRequest, RateVerdict>;

  constructor(options: RateLimiterOptions) {
    this.shared = new RedisBuckets(options, options.onError);
    this.groups = new Coalescer({
      serve: (requests) => this.serve(requests),
      maxItems: MAX_REQUESTS_PER_GROUP,
    });
  }

  /**
   * Takes a token for one request.
   *
   * @param policy the namespace of the bucket, such as `key`
   * @param id the bucket: printable ASCII, and nothing that must not be visible in Redis; see {@link bucketIdOf}
   */
  takeToken(policy: string, id: string, limit: RateLimit): Promise<RateVerdict> {
    return this.groups.add({ policy, id, limit, atMs: performance.now() });
  }

  /**
   * The state of a bucket as far as this process knows. Takes no token and does not query Redis; `idOf` is rarely even called.
   *
   * @returns undefined when it is full
   */
  peek(policy: string, idOf: () => string, limit: RateLimit): RateVerdict | undefined {
    return this.local.standing(policy, idOf, limit);
  }

  close(): void {
    this.shared.close();
  }

  private async serve(requests: readonly TimedTokenRequest[]): Promise<RateVerdict[]> {
    const { all, demandOf } = groupByBucket(requests);
    const grants = await this.grant(all, requests[0]!.atMs);
    const verdicts = all.map(({ limit, wanted }, index) => rateVerdicts(limit, wanted, grants[index]!));
    const given = all.map(() => 0);
    return demandOf.map((index) => verdicts[index]![given[index]!++]!);
  }

  /** @param sinceMs when the first of the requests came; the time that it has waited for its group counts */
  private async grant(demands: readonly Demand[], sinceMs: number): Promise<readonly Grant[]> {
    if (!this.shared.isReachable) return this.local.take(demands);
    const leftMs = Math.max(MAX_WAIT_MS - (performance.now() - sinceMs), 0);
    const grants = await this.shared.take(demands, leftMs);
    if (grants === undefined) return this.local.take(demands);
    this.local.learn(demands, grants);
    return grants;
  }
}

/** A bucket id for something that must not be visible in Redis, such as an address: a truncated SHA-256. */
export function bucketIdOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, ID_CHARACTERS);
}
