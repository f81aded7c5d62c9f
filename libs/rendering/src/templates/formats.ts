import { exposeGarbageCollector } from './expose-garbage-collector.ts';
import { numeric } from './comparisons.ts';

/** Smaller numbers are seconds since 1970, others milliseconds: as seconds this is the year 5138, as milliseconds 1973. */
const MIN_MILLISECONDS = 100_000_000_000;
/** The largest time value of a Date (ECMA-262, section 21.4.1.1). */
const MAX_MILLISECONDS = 8_640_000_000_000_000;
/** An offset can be of hours only: Postgres writes `+00`. */
const TIMESTAMP =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(?:Z|([+-]\d\d)(?::?(\d\d))?)?)?$/i;
const MAX_CACHED_FORMATS = 100;
/** Each format takes some 60 kB outside of the heap, which neither V8 nor the limits of a thread count: without collecting, a gigabyte accumulated. */
const CREATIONS_PER_COLLECTION = 200;
const DEFAULT_LOCALE = 'en-US';
/** Before "PM", and in French between thousands: some clients draw it as a box. */
const NARROW_SPACE = '\u202f';
/** The maximum of decimals of a number or an amount. */
export const MAX_DECIMALS = 10;
export const TIME_STYLES = ['short', 'medium', 'long', 'full'] as const;
export const DATE_STYLES = [...TIME_STYLES, 'iso'] as const;

interface Format {
  format(value: number): string;
}

/** Creating a format costs more than rendering an email, so a thread caches the last ones. */
const cache = new Map<string, Format | undefined>();

let creationsSinceCollection = 0;
let collect: (() => void) | undefined;

function cachedFormat(key: string, make: () => Format): Format | undefined {
  if (!cache.has(key)) {
    if (cache.size >= MAX_CACHED_FORMATS) cache.delete(cache.keys().next().value!);
    cache.set(
      key,
      undefinedIfInvalid(() => countCreation(make)),
    );
  }
  return cache.get(key);
}

/** Creates a format; after many, collects the heap, to free the memory of unused ones. Only a template that keeps creating formats waits for that. */
function countCreation<Made>(make: () => Made): Made {
  creationsSinceCollection += 1;
  if (creationsSinceCollection >= CREATIONS_PER_COLLECTION) {
    collect ??= exposeGarbageCollector();
    if (collect !== undefined) creationsSinceCollection = 0;
    collect?.();
  }
  return make();
}

/** `Intl` throws a RangeError for an unknown locale, currency or time zone. */
function undefinedIfInvalid<Value>(make: () => Value): Value | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/** Whether `text` is a well-formed BCP 47 tag; `_` may be written for `-` (UTS 35, section 3.2), as many programs do. */
export function isLocale(text: string): boolean {
  return languageTag(text) !== undefined;
}

function languageTag(text: string): string | undefined {
  return undefinedIfInvalid(() => Intl.getCanonicalLocales(text.replaceAll('_', '-'))[0]);
}

/** Whether `text` names a time zone that this Node supports. */
export function isTimeZone(text: string): boolean {
  return (
    undefinedIfInvalid(() => countCreation(() => new Intl.DateTimeFormat('en', { timeZone: text }))) !==
    undefined
  );
}

/** Whether `text` has the form of an ISO 4217 code. */
export function isCurrency(text: string): boolean {
  return /^[A-Za-z]{3}$/.test(text);
}

/** A number formatted for a locale; undefined if it is not a number, or an option is unknown. */
export function formattedNumber(
  value: unknown,
  options: Readonly<Record<string, unknown>>,
): string | undefined {
  return formatted(value, options.locale, decimalsOf(options.decimals) ?? {});
}

/** An amount of money formatted for a locale; undefined if it is not a number, or an option is unknown. */
export function formattedCurrency(
  value: unknown,
  currency: unknown,
  options: Readonly<Record<string, unknown>>,
): string | undefined {
  if (typeof currency !== 'string') return undefined;
  return formatted(value, options.locale, { style: 'currency', currency, ...decimalsOf(options.decimals) });
}

function decimalsOf(value: unknown): Intl.NumberFormatOptions | undefined {
  const decimals = numeric(value);
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > MAX_DECIMALS) return undefined;
  return { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
}

function formatted(value: unknown, locale: unknown, options: Intl.NumberFormatOptions): string | undefined {
  const number = numeric(value);
  if (Number.isNaN(number)) return undefined;
  const locales = localesOf(locale);
  const key = JSON.stringify(['number', locales, options]);
  return cachedFormat(key, () => new Intl.NumberFormat(locales, options))
    ?.format(number)
    .replaceAll(NARROW_SPACE, '\u00a0');
}

/**
 * A date, with `time` also its time, formatted for a locale and a time zone (default: UTC). Takes ISO 8601
 * (without an offset: UTC) and seconds or milliseconds since 1970. A day without a time, such as a due date, is the same day in every
 * time zone.
 *
 * @returns undefined if it is not a date, or an option is unknown
 */
export function formattedDate(
  value: unknown,
  style: unknown,
  options: Readonly<Record<string, unknown>>,
): string | undefined {
  const time = timeOf(value);
  if (Number.isNaN(time)) return undefined;
  const request = dateOptions(style, isDayAlone(value) ? { ...options, timeZone: 'UTC' } : options);
  const locales = localesOf(style === 'iso' ? 'sv-SE' : options.locale);
  const key = JSON.stringify(['date', locales, request]);
  return cachedFormat(key, () => new Intl.DateTimeFormat(locales, request))
    ?.format(time)
    .replaceAll(NARROW_SPACE, ' ');
}

/** The short style of Swedish (`sv-SE`) writes dates as in ISO 8601. */
function dateOptions(style: unknown, options: Readonly<Record<string, unknown>>): Intl.DateTimeFormatOptions {
  const { time, timeZone } = options;
  const timeStyle = styleOf(time);
  return {
    dateStyle: style === 'iso' ? 'short' : (styleOf(style) ?? 'medium'),
    ...(timeStyle && { timeStyle }),
    timeZone: typeof timeZone === 'string' ? timeZone : 'UTC',
  };
}

function styleOf(value: unknown): (typeof TIME_STYLES)[number] | undefined {
  return TIME_STYLES.find((style) => style === value);
}

/** The locale and, if there is none or Node does not know its language, the default one: `Intl` would use that of the machine. */
function localesOf(locale: unknown): string[] {
  const tag = typeof locale === 'string' ? languageTag(locale) : undefined;
  return tag === undefined ? [DEFAULT_LOCALE] : [tag, DEFAULT_LOCALE];
}

function isDayAlone(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value.trim());
}

function timeOf(value: unknown): number {
  if (typeof value === 'number') {
    const time = Math.abs(value) < MIN_MILLISECONDS ? value * 1_000 : value;
    return Math.abs(time) <= MAX_MILLISECONDS ? time : Number.NaN;
  }
  const [, day, time = '00:00', offsetHours = '+00', offsetMinutes = '00'] =
    TIMESTAMP.exec(typeof value === 'string' ? value.trim() : '') ?? [];
  if (day === undefined || !isDay(day)) return Number.NaN;
  return Date.parse(`${day}T${time}${offsetHours}:${offsetMinutes}`);
}

/** `Date.parse` takes February 30 for March 2. */
function isDay(day: string): boolean {
  const start = new Date(`${day}T00:00Z`);
  return !Number.isNaN(start.getTime()) && start.toISOString().startsWith(day);
}
