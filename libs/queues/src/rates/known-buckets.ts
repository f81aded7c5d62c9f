import {
  type Bucket,
  type RateLimit,
  type RateVerdict,
  refill,
  standingOf,
  takeTokens,
} from '@posthorn/domain';
import { type Demand, type Grant } from './demand.ts';

/** A full bucket, which is what one is taken for that is not known. */
const FULL: Bucket = { missing: 0, atUs: 0 };

/**
 * The buckets as this process knows them, by its monotonic clock. Of each policy so many are kept; beyond that those
 * that were longest not asked for are forgotten, and no flood under one policy makes those of another be.
 */
export class KnownBuckets {
  private readonly byPolicy = new Map<string, Map<string, Bucket>>();

  constructor(private readonly mostOfPolicy: number) {}

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

  /** How a bucket stands. */
  standing(policy: string, id: string, limit: RateLimit): RateVerdict {
    return standingOf(this.find({ policy, id, limit }), limit);
  }

  private find({ policy, id, limit }: Omit<Demand, 'wanted'>): Bucket {
    return refill(this.byPolicy.get(policy)?.get(id) ?? FULL, limit, nowUs());
  }

  private keep({ policy, id }: Demand, bucket: Bucket): void {
    const buckets = this.byPolicy.get(policy) ?? new Map<string, Bucket>();
    this.byPolicy.set(policy, buckets);
    // A Map keeps the order of insertion: taken out and put in again, a bucket is the youngest.
    buckets.delete(id);
    buckets.set(id, bucket);
    if (buckets.size > this.mostOfPolicy) buckets.delete(buckets.keys().next().value!);
  }
}

function nowUs(): number {
  return Math.floor(performance.now() * 1_000);
}
