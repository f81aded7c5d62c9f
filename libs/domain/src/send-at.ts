import { SCHEDULING_HORIZON_DAYS, SEND_AT_GRACE_MINUTES } from './limits.ts';

const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:Z|([+-])(\d{2})(?::?(\d{2}))?)$/i;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** The advice in faults of a time. */
export const TIME_HINT = 'give a date, a time and an offset or `Z`, as in `2030-01-31T09:30:00Z`';
const NO_OFFSET =
  'has no offset, so nobody knows which time zone is meant; add one, such as `+02:00`, or `Z` for UTC';

/**
 * Parses a point in time: RFC 3339, section 5.6, and common ISO 8601 variants (no seconds, a comma before their fraction, an offset
 * without colon or minutes). Leap seconds, 24:00 and dates that do not exist are refused.
 *
 * @param advice the advice for a text that is not a time
 * @returns milliseconds since 1970, or what is wrong (a predicate to be put after the name of the field)
 */
export function parseTimestamp(text: string, advice = TIME_HINT): { atMs: number } | { fault: string } {
  const parts = TIMESTAMP.exec(text);
  if (parts === null) return { fault: TIMESTAMP.test(`${text}Z`) ? NO_OFFSET : `is not a time; ${advice}` };
  const [year, month, day, hour, minute, second] = parts
    .slice(1, 7)
    .map((digits) => Number(digits ?? 0)) as DateParts;
  if (!isDate(year, month, day))
    return { fault: `has the date ${text.slice(0, 10)}, which does not exist; give a real date` };
  if (hour > 23 || minute > 59 || second > 59) {
    return {
      fault: `has the time ${text.slice(11).split(/[z+-]/i)[0]}, which does not exist; hours go to 23, minutes and seconds to 59`,
    };
  }
  const [sign, offsetHour, offsetMinute] = [parts[8], Number(parts[9] ?? 0), Number(parts[10] ?? 0)];
  if (offsetHour > 23 || offsetMinute > 59)
    return { fault: `has an offset that no time zone has; ${TIME_HINT}` };
  const ms = Number((parts[7] ?? '').padEnd(3, '0').slice(0, 3));
  const offsetMs = (sign === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute) * MINUTE_MS;
  return { atMs: utc(year, month, day, hour, minute, second) + ms - offsetMs };
}

type DateParts = [number, number, number, number, number, number];

/** `Date.UTC` would map the years 0–99 to 1900–1999. */
function utc(...[year, month, day, hour, minute, second]: DateParts): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.setUTCHours(hour, minute, second);
}

function isDate(year: number, month: number, day: number): boolean {
  const date = new Date(utc(year, month, day, 0, 0, 0));
  return month >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/**
 * Parses a `sendAt` and checks that it is in the permitted range.
 *
 * @param nowMs the database's time, in milliseconds since 1970
 * @param toSendNow the advice for sending now, in the fault of a past time
 * @returns the time, with undefined for "now"; or what is wrong (a predicate to be put after the name of the field)
 */
export function parseSendAt(
  text: string,
  nowMs: number,
  toSendNow = 'leave it out to send now',
): { at: Date | undefined } | { fault: string } {
  const parsed = parseTimestamp(text);
  if ('fault' in parsed) return parsed;
  const aheadMs = parsed.atMs - nowMs;
  if (aheadMs > SCHEDULING_HORIZON_DAYS * DAY_MS) {
    return {
      fault: `is ${Math.ceil(aheadMs / DAY_MS)} days ahead; at most ${SCHEDULING_HORIZON_DAYS} are allowed`,
    };
  }
  if (aheadMs < -SEND_AT_GRACE_MINUTES * MINUTE_MS) {
    return { fault: `is ${inLargestUnit(-aheadMs)} in the past; give a future time, or ${toSendNow}` };
  }
  return { at: aheadMs > 0 ? new Date(parsed.atMs) : undefined };
}

/** A duration in the largest unit of which there are at least two. Minutes are rounded up, so that they are never the {@link SEND_AT_GRACE_MINUTES} that are allowed. */
function inLargestUnit(ms: number): string {
  if (ms >= 2 * DAY_MS) return `${Math.floor(ms / DAY_MS)} days`;
  if (ms >= 2 * HOUR_MS) return `${Math.floor(ms / HOUR_MS)} hours`;
  return `${Math.ceil(ms / MINUTE_MS)} minutes`;
}
