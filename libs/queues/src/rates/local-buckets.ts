import { BoundedMap } from '@posthorn/kernel';
import {
  type Bucket,
  type Grant,
  microsecondsToFill,
  type RateLimit,
  type RateVerdict,
  refill,
  bucketState,
  takeTokens,
} from '@posthorn/domain';
import type { TokenRequest, Demand } from './demand.ts';

/** A full bucket. An unknown bucket counts as full. */
const FULL: Bucket = { missing: 0, atUs: 0 };

/**
 * The buckets as this process knows them, by its monotonic clock. A bounded number is kept for each policy, least recently used first out; a flood under one
 * policy does not evict the buckets of another.
 */
export class LocalBuckets {
  private readonly byPolicy = new Map<string, { buckets: BoundedMap<string, Bucket>; keptAtUs: number }>();

  constructor(private readonly maxPerPolicy: number) {}

  /** Takes tokens out of the buckets. */
  take(demands: readonly Demand[]): Grant[] {
    return demands.map((demand) => {
      const grant = takeTokens(this.find(demand), demand.limit, demand.wanted);
      this.keep(demand, grant.bucket);
      return grant;
    });
  }

  /** Adopts the state of buckets that Redis has just granted from. */
  learn(demands: readonly Demand[], grants: readonly Grant[]): void {
    const atUs = nowUs();
    demands.forEach((demand, index) => this.keep(demand, { ...grants[index]!.bucket, atUs }));
  }

  /** The state of a bucket; undefined: it is full. `idOf` is only called when some bucket of the policy may not be full. */
  standing(policy: string, idOf: () => string, limit: RateLimit): RateVerdict | undefined {
    const keptAtUs = this.byPolicy.get(policy)?.keptAtUs;
    if (keptAtUs === undefined || nowUs() - keptAtUs > microsecondsToFill(limit)) return undefined;
    const bucket = this.find({ policy, id: idOf(), limit });
    return bucket.missing === 0 ? undefined : bucketState(bucket, limit);
  }

  private find({ policy, id, limit }: TokenRequest): Bucket {
    return refill(this.byPolicy.get(policy)?.buckets.get(id) ?? FULL, limit, nowUs());
  }

  private keep({ policy, id }: Demand, bucket: Bucket): void {
    const local = this.byPolicy.get(policy) ?? { buckets: new BoundedMap(this.maxPerPolicy), keptAtUs: 0 };
    this.byPolicy.set(policy, local);
    local.keptAtUs = bucket.atUs;
    local.buckets.set(id, bucket);
  }
}

function nowUs(): number {
  return Math.floor(performance.now() * 1_000);
}
