import { microsecondsToFill, type RateLimit, type RateVerdict } from './rate-limit.ts';

/**
 * How a limit is told to a caller: the values of `RateLimit-Policy` and `RateLimit`
 * (draft-ietf-httpapi-ratelimit-headers-11, sections 3 and 4).
 *
 * The window of the policy is the time in which an empty bucket fills, so that whoever keeps to `q` requests in `w` seconds is
 * never refused. `t` is when the next request becomes possible; it is left out of a bucket that is full.
 *
 * @param policy its name: printable ASCII without quotes and backslashes
 */
export function rateLimitFields(
  policy: string,
  limit: RateLimit,
  { remaining, nextAfterMs }: Pick<RateVerdict, 'remaining' | 'nextAfterMs'>,
): { readonly policy: string; readonly state: string } {
  const window = wholeSeconds(microsecondsToFill(limit) / 1_000);
  const wait = nextAfterMs === 0 ? '' : `;t=${wholeSeconds(nextAfterMs)}`;
  return { policy: `"${policy}";q=${limit.burst};w=${window}`, state: `"${policy}";r=${remaining}${wait}` };
}

/** A span of time as callers are told it: whole seconds, at least one. */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
