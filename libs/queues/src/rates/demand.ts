import type { RateLimit } from '@posthorn/domain';

/** A request for one token of a bucket. */
export interface TokenRequest {
  /** The namespace of the bucket. */
  readonly policy: string;
  readonly id: string;
  readonly limit: RateLimit;
}

/** A request for several tokens of one bucket. */
export interface Demand extends TokenRequest {
  readonly wanted: number;
}

/** The token requests of a group, summed up by bucket. */
interface BucketDemands {
  /** In the order of the first request for each bucket. */
  readonly all: readonly Demand[];
  /** For each request, the index of its demand in `all`. */
  readonly demandOf: readonly number[];
}

/** Sums up requests by bucket; if requests for one bucket have different limits, the last one counts. */
export function groupByBucket(requests: readonly TokenRequest[]): BucketDemands {
  const all: { policy: string; id: string; limit: RateLimit; wanted: number }[] = [];
  const byName = new Map<string, number>();
  const demandOf = requests.map(({ policy, id, limit }) => {
    const name = `${policy}:${id}`;
    const index = byName.get(name) ?? all.length;
    const demand = all[index];
    if (demand === undefined) {
      byName.set(name, index);
      all.push({ policy, id, limit, wanted: 1 });
    } else {
      demand.limit = limit;
      demand.wanted += 1;
    }
    return index;
  });
  return { all, demandOf };
}
