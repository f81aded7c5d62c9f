const TIMES_AS_LONG = 10;

/**
 * How long to do without something that took long twice in a row: ten times as long as the shorter of the two, so that it takes a tenth of the time at most.
 * Two, because a single one may have waited for a lock, or for a server that stood still.
 *
 * @param before how long it took the last time, in ms; 0: not long
 */
export function restMs(before: number, tookMs: number): number {
  return Math.min(before, tookMs) * TIMES_AS_LONG;
}
