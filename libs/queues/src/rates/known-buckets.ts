import { BoundedMap } from '@posthorn/kernel';
import {
  type Bucket,
  microsecondsToFill,
  type RateLimit,
  type RateVerdict,
  refill,
  standingOf,
  takeTokens,
} from '@posthorn/domain';
import type { Asked, Demand, Grant } from './demand.ts';

/** A full bucket: one that is not known counts as full. */
const FULL: Bucket = { missing: 0, atUs: 0 };

/**
 * The buckets as this process knows them, by its monotonic clock. A fixed number is kept for each policy; beyond that the ones that were not asked for
 * longest are forgotten. A flood under one policy does not displace the buckets of another.
 */
export class KnownBuckets {
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

  /** Takes over what others have granted just now. */
  learn(demands: readonly Demand[], grants: readonly Grant[]): void {
    const atUs = nowUs();
    demands.forEach((demand, index) => this.keep(demand, { ...grants[index]!.bucket, atUs }));
  }

  /** How a bucket stands; undefined: it is full. Its id is only asked for when some bucket of the policy may not be full. */
  standing(policy: string, idOf: () => string, limit: RateLimit): RateVerdict | undefined {
    const keptAtUs = this.byPolicy.get(policy)?.keptAtUs;
    if (keptAtUs === undefined || nowUs() - keptAtUs > microsecondsToFill(limit)) return undefined;
    const bucket = this.find({ policy, id: idOf(), limit });
    return bucket.missing === 0 ? undefined : standingOf(bucket, limit);
  }

  private find({ policy, id, limit }: Asked): Bucket {
    return refill(this.byPolicy.get(policy)?.buckets.get(id) ?? FULL, limit, nowUs());
  }

  private keep({ policy, id }: Demand, bucket: Bucket): void {
    const known = this.byPolicy.get(policy) ?? { buckets: new BoundedMap(this.maxPerPolicy), keptAtUs: 0 };
    this.byPolicy.set(policy, known);
    known.keptAtUs = bucket.atUs;
    known.buckets.set(id, bucket);
  }
}

function nowUs(): number {
  return Math.floor(performance.now() * 1_000);
}
