import { microsecondsToFill, type RateLimit, type RateVerdict } from './rate-limit.ts';

/**
 * The value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11, section 3). Its window is the time in which an empty bucket
 * fills, so that a caller who makes at most `q` requests in `w` seconds is never refused.
 *
 * @param policy the name of the policy: printable ASCII without quotes and backslashes
 */
export function rateLimitPolicy(policy: string, limit: RateLimit): string {
  return `"${policy}";q=${limit.burst};w=${wholeSeconds(microsecondsToFill(limit) / 1_000)}`;
}

/**
 * The value of `RateLimit` (section 4 of the draft). `t` is the time until the next token; it is omitted while the bucket is full.
 *
 * @param policy as in {@link rateLimitPolicy}
 */
export function rateLimitState(
  policy: string,
  { remaining, nextAfterMs }: Pick<RateVerdict, 'remaining' | 'nextAfterMs'>,
): string {
  const wait = nextAfterMs === 0 ? '' : `;t=${wholeSeconds(nextAfterMs)}`;
  return `"${policy}";r=${remaining}${wait}`;
}

/** A duration in whole seconds, rounded up, at least one. */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
