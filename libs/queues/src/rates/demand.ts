import type { Bucket, RateLimit } from '@posthorn/domain';

/** One request: a token is wanted of a bucket. */
export interface Asked {
  /** The buckets of a policy are apart from those of all others. */
  readonly policy: string;
  readonly id: string;
  readonly limit: RateLimit;
}

/** Tokens that are wanted of one bucket. */
export interface Demand extends Asked {
  readonly wanted: number;
}

/** What was granted of a {@link Demand}, and how the bucket is after that. */
export interface Grant {
  readonly granted: number;
  readonly bucket: Bucket;
}

/** The requests of a group, by bucket. */
export interface Demands {
  /** In the order in which each bucket is first asked for. */
  readonly all: readonly Demand[];
  /** For each request the number of its demand. */
  readonly places: readonly number[];
}

/** Puts the requests for one bucket together; where they name several limits the last counts. */
export function demandsOf(asked: readonly Asked[]): Demands {
  const all: { policy: string; id: string; limit: RateLimit; wanted: number }[] = [];
  const byName = new Map<string, number>();
  const places = asked.map(({ policy, id, limit }) => {
    const name = `${policy}:${id}`;
    const place = byName.get(name) ?? all.length;
    const demand = all[place];
    if (demand === undefined) {
      byName.set(name, place);
      all.push({ policy, id, limit, wanted: 1 });
    } else {
      demand.limit = limit;
      demand.wanted += 1;
    }
    return place;
  });
  return { all, places };
}
