import { hash } from 'node:crypto';
import { Coalescer } from '@posthorn/kernel';
import { type RateLimit, type RateVerdict, verdictsOf } from '@posthorn/domain';
import type { RedisOptions } from '../connections.ts';
import { type Asked, type Demand, demandsOf, type Grant } from './demand.ts';
import { KnownBuckets } from './known-buckets.ts';
import { RedisBuckets } from './redis-buckets.ts';

/** No request waits longer for the limiter than this. */
const MAX_WAIT_MS = 50;
const MAX_REQUESTS_PER_GROUP = 500;
/** About 10 MB a policy. */
const MAX_KNOWN_BUCKETS = 50_000;
/** Of base64url: 132 bits, so that no two of them are alike. */
const ID_CHARACTERS = 22;

export interface RateLimiterOptions extends RedisOptions {
  readonly onError: (error: Error) => void;
}

interface AskedAt extends Asked {
  readonly atMs: number;
}

/**
 * Limits how often something may be done, over all gateways: token buckets in Redis. Requests that are in flight together
 * share one call. While Redis is away or slow this process limits by itself, going on from the buckets as it last
 * knew them: nothing waits longer than 50 ms, and nothing fails or is refused because Redis is not there.
 */
export class RateLimiter {
  private readonly shared: RedisBuckets;
  private readonly known = new KnownBuckets(MAX_KNOWN_BUCKETS);
  private readonly groups: Coalescer<AskedAt, RateVerdict>;

  constructor(options: RateLimiterOptions) {
    this.shared = new RedisBuckets(options, options.onError);
    this.groups = new Coalescer({ serve: (asked) => this.serve(asked), maxItems: MAX_REQUESTS_PER_GROUP });
  }

  /**
   * Takes a token for one request.
   *
   * @param policy whose buckets are apart from all others, such as `key`
   * @param id the bucket: printable ASCII, and nothing that must not be seen in Redis; see {@link bucketIdOf}
   */
  judge(policy: string, id: string, limit: RateLimit): Promise<RateVerdict> {
    return this.groups.add({ policy, id, limit, atMs: performance.now() });
  }

  /**
   * How a bucket stands as far as this process knows. It takes nothing and asks Redis nothing, and mostly not even for the id.
   *
   * @returns undefined when it is full
   */
  peek(policy: string, idOf: () => string, limit: RateLimit): RateVerdict | undefined {
    return this.known.standing(policy, idOf, limit);
  }

  close(): void {
    this.shared.close();
  }

  private async serve(asked: readonly AskedAt[]): Promise<RateVerdict[]> {
    const { all, places } = demandsOf(asked);
    const grants = await this.grant(all, asked[0]!.atMs);
    const verdicts = all.map(({ limit, wanted }, place) => verdictsOf(limit, wanted, grants[place]!));
    const given = all.map(() => 0);
    return places.map((place) => verdicts[place]![given[place]!++]!);
  }

  /** @param sinceMs when the first of the requests came: the time it has waited for the group counts */
  private async grant(demands: readonly Demand[], sinceMs: number): Promise<readonly Grant[]> {
    if (!this.shared.isReachable) return this.known.take(demands);
    const leftMs = Math.max(MAX_WAIT_MS - (performance.now() - sinceMs), 0);
    const grants = await this.shared.take(demands, leftMs);
    if (grants === undefined) return this.known.take(demands);
    this.known.learn(demands, grants);
    return grants;
  }
}

/** The id of a bucket for what must not be seen in Redis, such as an address: a part of its SHA-256. */
export function bucketIdOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, ID_CHARACTERS);
}
