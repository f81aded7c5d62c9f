const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG_DAY = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)';
const TIME = '(?<time>(?:[01]\\d|2[0-3]):[0-5]\\d:(?:[0-5]\\d|60))';

/** A number of seconds. */
const DELAY = /^\d+$/;
/** The three forms of a date that have to be understood (RFC 9110, section 5.6.7). */
const DATES = [
  new RegExp(`^${DAY}, (?<day>\\d{2}) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^${LONG_DAY}, (?<day>\\d{2})-${MONTH}-(?<year>\\d{2}) ${TIME} GMT$`),
  new RegExp(`^${DAY} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/**
 * After how many seconds `Retry-After` asks to be tried again (RFC 9110, section 10.2.3): a number of seconds, or a date.
 *
 * @param text the field as it came, from a stranger
 * @param now by which a date is judged
 * @returns undefined for what is neither; 0 for a date that is past. It may be as large as a number can be
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
  const year = wholeYear(found['year']!, now);
  const month = MONTHS.indexOf(found['month']!);
  return Date.UTC(year, month, Number(found['day']), hours, minutes, seconds);
}

/** Two digits mean the latest year that ends so and is not more than 50 years ahead (RFC 9110, section 5.6.7). */
function wholeYear(digits: string, now: Date): number {
  if (digits.length === 4) return Number(digits);
  const latest = now.getUTCFullYear() + 50;
  return latest - ((((latest - Number(digits)) % 100) + 100) % 100);
}
