/**
 * The result of a check. `good`: as it should be. `advice`: works, but should be improved. `fault`: does not work, will soon fail, or could lose
 * accepted emails. `unknown`: could not be determined, because something else is missing.
 */
type FindingKind = 'good' | 'advice' | 'fault' | 'unknown';

/** The finding of a check of an installation. */
export interface Finding {
  readonly kind: FindingKind;
  /** What was found: a sentence without a full stop, secrets or personal addresses. */
  readonly found: string;
  /** What to do about it; absent when all is good. */
  readonly mend?: string;
}

export const good = (found: string): Finding => ({ kind: 'good', found });
export const advice = (found: string, mend: string): Finding => ({ kind: 'advice', found, mend });
export const fault = (found: string, mend: string): Finding => ({ kind: 'fault', found, mend });
export const unknown = (found: string, mend: string): Finding => ({ kind: 'unknown', found, mend });

/** The remedy for a server that is a replica. @param setting with the server's URL */
export const pointAtPrimary = (setting: 'DATABASE_URL' | 'REDIS_URL'): string =>
  `point ${setting} at the primary, by a name that follows it in a failover`;

/** How many of several culprits a finding names; the others are only counted. */
export const NAMED = 5;

/** The first texts as parts of a sentence, and how many more there are: `a and b and 3 more`. */
export function enumerated(texts: readonly string[], max = NAMED, separator = ' and '): string {
  const more = texts.length - max;
  return texts.slice(0, max).join(separator) + (more > 0 ? ` and ${more} more` : '');
}

/** A duration for people: `45 s`, `3 min`, `2 h`, `5 days`. */
export function durationText(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 120) return `${whole} s`;
  if (whole < 2 * 3_600) return `${Math.round(whole / 60)} min`;
  return whole < 2 * 86_400 ? `${Math.round(whole / 3_600)} h` : `${Math.round(whole / 86_400)} days`;
}

/** An amount of memory or disk: `512 MiB`, `1.5 GiB`. */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1);
  const amount = bytes / 1024 ** step;
  return `${amount < 10 && step > 0 ? amount.toFixed(1) : Math.round(amount)} ${units[step]}`;
}
