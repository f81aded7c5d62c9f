import { type Bucket, type RateLimit } from '@posthorn/domain';

/** Tokens that are wanted of one bucket. */
export interface Demand {
  /** The buckets of a policy are apart from those of all others. */
  readonly policy: string;
  readonly id: string;
  readonly limit: RateLimit;
  readonly wanted: number;
}

/** What was granted of a {@link Demand}, and how the bucket is after that. */
export interface Grant {
  readonly granted: number;
  readonly bucket: Bucket;
}

/** The name of a demand's bucket. */
export function bucketName({ policy, id }: Pick<Demand, 'policy' | 'id'>): string {
  return `${policy}:${id}`;
}

/** Puts the requests for one bucket together, in the order in which each bucket is first asked for. */
export function demandsOf(asked: readonly Omit<Demand, 'wanted'>[]): Map<string, Demand> {
  const demands = new Map<string, Demand>();
  for (const { policy, id, limit } of asked) {
    const name = bucketName({ policy, id });
    const wanted = (demands.get(name)?.wanted ?? 0) + 1;
    demands.set(name, { policy, id, limit, wanted });
  }
  return demands;
}
