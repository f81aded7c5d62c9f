const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG_DAY = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)';
const TIME = '(?<time>(?:[01]\\d|2[0-3]):[0-5]\\d:(?:[0-5]\\d|60))';

/** A number of seconds. */
const DELAY = /^\d+$/;
/** The three date formats that recipients must accept (RFC 9110, section 5.6.7). */
const DATES = [
  new RegExp(`^${DAY}, (?<day>\\d{2}) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^${LONG_DAY}, (?<day>\\d{2})-${MONTH}-(?<year>\\d{2}) ${TIME} GMT$`),
  new RegExp(`^${DAY} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/**
 * Parses `Retry-After` (RFC 9110, section 10.2.3), a number of seconds or a date, into seconds.
 *
 * @param text the untrusted value
 * @param now the reference for a date
 * @returns undefined for anything else; 0 for a date in the past. It can be arbitrarily large, even infinite
 */
export function readRetryAfter(text: string, now: Date): number | undefined {
  const value = text.trim();
  if (DELAY.test(value)) return Number(value);
  const at = readHttpDate(value, now);
  return at === undefined ? undefined : Math.max(0, Math.ceil((at - now.getTime()) / 1_000));
}

/** Milliseconds since 1970. */
function readHttpDate(value: string, now: Date): number | undefined {
  const found = DATES.map((form) => form.exec(value)?.groups).find((groups) => groups !== undefined);
  if (found === undefined) return undefined;
  const [hours, minutes, seconds] = found['time']!.split(':').map(Number);
  const year = fullYear(found['year']!, now);
  const month = MONTHS.indexOf(found['month']!);
  return Date.UTC(year, month, Number(found['day']), hours, minutes, seconds);
}

/** Two digits mean the latest matching year that is at most 50 years ahead (RFC 9110, section 5.6.7). */
function fullYear(digits: string, now: Date): number {
  if (digits.length === 4) return Number(digits);
  const latest = now.getUTCFullYear() + 50;
  return latest - ((((latest - Number(digits)) % 100) + 100) % 100);
}
