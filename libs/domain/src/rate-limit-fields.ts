import { microsecondsToFill, type RateLimit, type RateVerdict } from './rate-limit.ts';

/**
 * How a limit is told to a caller: the value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11, section 3). Its window
 * is the time in which an empty bucket fills, so that whoever keeps to `q` requests in `w` seconds is never refused.
 *
 * @param policy its name: printable ASCII without quotes and backslashes
 */
export function rateLimitPolicy(policy: string, limit: RateLimit): string {
  return `"${policy}";q=${limit.burst};w=${wholeSeconds(microsecondsToFill(limit) / 1_000)}`;
}

/**
 * How a caller is told where it stands: the value of `RateLimit` (section 4 of the draft). `t` is when the next request becomes
 * possible; it is left out of a bucket that is full.
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

/** A span of time as callers are told it: whole seconds, at least one. */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
