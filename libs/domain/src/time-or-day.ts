import { parseTimestamp } from './send-at.ts';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** The advice in faults of a time or day. */
export const TIME_OR_DAY_HINT =
  'give a day, as in `2030-01-31`, or a date, a time and an offset or `Z`, as in `2030-01-31T09:30:00Z`';

/**
 * Parses a point in time, or a day, which means its start (UTC).
 *
 * @returns milliseconds since 1970 and whether it was a day, or what is wrong (a predicate to be put after the name of the field)
 */
export function parseTimeOrDay(text: string): { atMs: number; isDay: boolean } | { fault: string } {
  const isDay = DAY.test(text);
  const parsed = parseTimestamp(isDay ? `${text}T00:00Z` : text, TIME_OR_DAY_HINT);
  return 'fault' in parsed ? parsed : { atMs: parsed.atMs, isDay };
}
