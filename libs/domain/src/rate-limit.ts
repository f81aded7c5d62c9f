/** So many requests in a period, and so many at once: a token bucket that holds `burst` and fills with `amount` a period. */
export interface RateLimit {
  /** A whole number, at least 1. */
  readonly amount: number;
  /** A whole number, at least 1. */
  readonly periodSeconds: number;
  /** A whole number, at least 1. */
  readonly burst: number;
}

/**
 * What a bucket lacks to be full, and when that was so. It is counted in parts of a token, so that all of it is exact in
 * whole numbers: a token has as many parts as its period has microseconds, and each microsecond brings `amount` parts.
 */
export interface Bucket {
  readonly missing: number;
  /** In microseconds, of whatever clock. */
  readonly atUs: number;
}

/** What was decided about one request. */
export interface RateVerdict {
  readonly allowed: boolean;
  /** How many more would be allowed at once. */
  readonly remaining: number;
  /** After how many milliseconds one more will be; 0 when the bucket is full. */
  readonly nextAfterMs: number;
}

const MICROSECONDS_PER_SECOND = 1_000_000;

/**
 * The limit of these numbers.
 *
 * @returns null when either is 0: there is no limit
 */
export function perSecond(amount: number, burst: number): RateLimit | null {
  return amount > 0 && burst > 0 ? { amount, periodSeconds: 1, burst } : null;
}

/** The parts of one token. */
export function partsOfToken(limit: RateLimit): number {
  return limit.periodSeconds * MICROSECONDS_PER_SECOND;
}

/** How long an empty bucket takes to be full. */
export function microsecondsToFill(limit: RateLimit): number {
  return (limit.burst * partsOfToken(limit)) / limit.amount;
}

/** A bucket at a later moment. A clock that has gone back brings nothing, and a bucket lacks no more than all. */
export function refill(bucket: Bucket, limit: RateLimit, nowUs: number): Bucket {
  const brought = Math.max(0, nowUs - bucket.atUs) * limit.amount;
  const missing = Math.min(Math.max(0, bucket.missing - brought), limit.burst * partsOfToken(limit));
  return { missing, atUs: nowUs };
}

/** Takes up to `wanted` tokens out of a bucket that is {@link refill}ed; gives how many were in it, and what is left. */
export function takeTokens(
  bucket: Bucket,
  limit: RateLimit,
  wanted: number,
): { readonly granted: number; readonly bucket: Bucket } {
  const granted = Math.min(wanted, tokensIn(bucket, limit));
  return { granted, bucket: { ...bucket, missing: bucket.missing + granted * partsOfToken(limit) } };
}

/** How a bucket that is {@link refill}ed stands, with no request made. */
export function standingOf(bucket: Bucket, limit: RateLimit): RateVerdict {
  const remaining = tokensIn(bucket, limit);
  return { allowed: remaining > 0, remaining, nextAfterMs: nextAfterMs(bucket, limit) };
}

/**
 * What each of `wanted` requests is told that came together, in their order.
 *
 * @param granted how many of them have a token
 * @param bucket how it is after that
 */
export function verdictsOf(
  limit: RateLimit,
  wanted: number,
  { granted, bucket }: { readonly granted: number; readonly bucket: Bucket },
): RateVerdict[] {
  const { remaining, nextAfterMs } = standingOf(bucket, limit);
  return Array.from({ length: wanted }, (_, index) =>
    index < granted
      ? { allowed: true, remaining: remaining + granted - 1 - index, nextAfterMs }
      : { allowed: false, remaining, nextAfterMs },
  );
}

function tokensIn({ missing }: Bucket, limit: RateLimit): number {
  return Math.max(0, limit.burst - Math.ceil(missing / partsOfToken(limit)));
}

function nextAfterMs({ missing }: Bucket, limit: RateLimit): number {
  if (missing === 0) return 0;
  const toNext = missing % partsOfToken(limit) || partsOfToken(limit);
  return toNext / limit.amount / 1_000;
}
