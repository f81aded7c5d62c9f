/** A token bucket that holds `burst` tokens and refills with `amount` tokens per period. */
export interface RateLimit {
  /** A whole number, at least 1. */
  readonly amount: number;
  /** A whole number, at least 1. */
  readonly periodSeconds: number;
  /** A whole number, at least 1. */
  readonly burst: number;
}

/**
 * The deficit of a bucket at a point in time. It is measured in fractions of a token, so that integers are exact: a token has as many
 * units as its period has microseconds, and each microsecond adds `amount` units.
 */
export interface Bucket {
  readonly missing: number;
  /** In microseconds, of any clock. */
  readonly atUs: number;
}

/** How many of the wanted tokens were granted, and the state of the bucket afterwards. */
export interface Grant {
  readonly granted: number;
  readonly bucket: Bucket;
}

/** The decision on a request. */
export interface RateVerdict {
  readonly allowed: boolean;
  /** How many more requests would be allowed now. */
  readonly remaining: number;
  /** Milliseconds until the next token is added; 0 when the bucket is full. */
  readonly nextAfterMs: number;
}

const MICROSECONDS_PER_SECOND = 1_000_000;

/**
 * A limit per second.
 *
 * @returns null (no limit) when either number is 0
 */
export function perSecond(amount: number, burst: number): RateLimit | null {
  return amount > 0 && burst > 0 ? { amount, periodSeconds: 1, burst } : null;
}

/** The number of units of a token. */
export function unitsPerToken(limit: RateLimit): number {
  return limit.periodSeconds * MICROSECONDS_PER_SECOND;
}

/** How long an empty bucket takes to be full. */
export function microsecondsToFill(limit: RateLimit): number {
  return (limit.burst * unitsPerToken(limit)) / limit.amount;
}

/** A bucket at a later time. A clock that went back adds nothing; the deficit never exceeds the size of the bucket. */
export function refill(bucket: Bucket, limit: RateLimit, nowUs: number): Bucket {
  const refilled = Math.max(0, nowUs - bucket.atUs) * limit.amount;
  const missing = Math.min(Math.max(0, bucket.missing - refilled), limit.burst * unitsPerToken(limit));
  return { missing, atUs: nowUs };
}

/** Takes up to `wanted` tokens from a bucket that has been {@link refill}ed. */
export function takeTokens(bucket: Bucket, limit: RateLimit, wanted: number): Grant {
  const granted = Math.min(wanted, tokensIn(bucket, limit));
  return { granted, bucket: { ...bucket, missing: bucket.missing + granted * unitsPerToken(limit) } };
}

/** The state of a bucket that has been {@link refill}ed, without a request. */
export function bucketState(bucket: Bucket, limit: RateLimit): RateVerdict {
  const remaining = tokensIn(bucket, limit);
  return { allowed: remaining > 0, remaining, nextAfterMs: nextAfterMs(bucket, limit) };
}

/** The verdicts on `wanted` concurrent requests, in their order: as many as tokens were granted are allowed. */
export function rateVerdicts(limit: RateLimit, wanted: number, { granted, bucket }: Grant): RateVerdict[] {
  const { remaining, nextAfterMs } = bucketState(bucket, limit);
  return Array.from({ length: wanted }, (_, index) =>
    index < granted
      ? { allowed: true, remaining: remaining + granted - 1 - index, nextAfterMs }
      : { allowed: false, remaining, nextAfterMs },
  );
}

function tokensIn({ missing }: Bucket, limit: RateLimit): number {
  return Math.max(0, limit.burst - Math.ceil(missing / unitsPerToken(limit)));
}

function nextAfterMs({ missing }: Bucket, limit: RateLimit): number {
  if (missing === 0) return 0;
  const toNext = missing % unitsPerToken(limit) || unitsPerToken(limit);
  return toNext / limit.amount / 1_000;
}
