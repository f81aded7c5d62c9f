import type { RateOfMinute } from '@posthorn/database';

/** Within how many seconds a relay has dealt with a half, and with 95 % of the emails; infinite: it took longer than the metric measures. */
export interface RelayTimes {
  readonly half: number;
  readonly most: number;
}

/**
 * How long a relay took for an email, to the upper limits of the buckets of `posthorn_smtp_transmission_duration_seconds`.
 *
 * @returns undefined when it was given none since that moment
 */
export function relayTimes(
  rates: readonly RateOfMinute[],
  relay: string,
  since: Date,
): RelayTimes | undefined {
  const bySeconds = new Map<number, number>();
  for (const { what, label, minute, count } of rates) {
    const space = label.indexOf(' ');
    if (what !== 'transmission' || minute < since || label.slice(space + 1) !== relay) continue;
    const limit = label.slice(0, space);
    const seconds = limit === '+Inf' ? Number.POSITIVE_INFINITY : Number(limit);
    bySeconds.set(seconds, (bySeconds.get(seconds) ?? 0) + count);
  }
  const buckets = [...bySeconds].sort(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  const within = (share: number): number => {
    let seen = 0;
    for (const [seconds, count] of buckets) {
      seen += count;
      if (seen >= share * total) return seconds;
    }
    return Number.POSITIVE_INFINITY;
  };
  return total === 0 ? undefined : { half: within(0.5), most: within(0.95) };
}
