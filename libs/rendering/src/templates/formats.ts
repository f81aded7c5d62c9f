import { collector } from './collector.ts';
import { numeric } from './comparisons.ts';

/** Numbers below it are seconds since 1970, others milliseconds: it is the year 5138 in the one and 1973 in the other. */
const FIRST_MILLISECONDS = 100_000_000_000;
/** The last moment that a date can hold (ECMA-262, section 21.4.1.1). */
const MAX_MILLISECONDS = 8_640_000_000_000_000;
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?)?$/i;
const MAX_CACHED_FORMATS = 100;
/** What each has lies outside of the heap, some 60 kB: V8 does not count it, and neither do the limits of a thread. A gigabyte came together. */
const MADE_BEFORE_COLLECTION = 200;
const DEFAULT_LOCALE = 'en-US';
/** Of which a number or an amount may have so many decimals. */
export const MAX_DECIMALS = 10;
export const TIME_STYLES = ['short', 'medium', 'long', 'full'] as const;
export const DATE_STYLES = [...TIME_STYLES, 'iso'] as const;

interface Formats {
  format(value: number): string;
}

/** Making one costs more than a whole email; a thread keeps those of the last templates. */
const kept = new Map<string, Formats | undefined>();

let madeSinceCollection = 0;
let collect: (() => void) | undefined;

function keptFormat(key: string, make: () => Formats): Formats | undefined {
  if (!kept.has(key)) {
    if (kept.size >= MAX_CACHED_FORMATS) kept.delete(kept.keys().next().value!);
    kept.set(
      key,
      orNothing(() => counted(make)),
    );
  }
  return kept.get(key);
}

/** Makes one; after many, what those before had is let go of. Only who makes them without end waits for that. */
function counted<Made>(make: () => Made): Made {
  madeSinceCollection += 1;
  if (madeSinceCollection >= MADE_BEFORE_COLLECTION) {
    collect ??= collector();
    if (collect !== undefined) madeSinceCollection = 0;
    collect?.();
  }
  return make();
}

/** A locale, a currency or a time zone that nobody knows is a RangeError. */
function orNothing<Value>(make: () => Value): Value | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/** Whether `text` is a well-formed BCP 47 tag. */
export function isLocale(text: string): boolean {
  return orNothing(() => Intl.getCanonicalLocales(text)) !== undefined;
}

/** Whether `text` names a time zone that this Node knows. */
export function isTimeZone(text: string): boolean {
  return orNothing(() => counted(() => new Intl.DateTimeFormat('en', { timeZone: text }))) !== undefined;
}

/** Whether `text` has the form of an ISO 4217 code. */
export function isCurrency(text: string): boolean {
  return /^[A-Za-z]{3}$/.test(text);
}

/** A number in the manner of a locale; undefined for what is none, or where an option is unknown. */
export function formattedNumber(
  value: unknown,
  options: Readonly<Record<string, unknown>>,
): string | undefined {
  return formatted(value, options.locale, decimalsOf(options.decimals) ?? {});
}

/** An amount of money in the manner of a locale; undefined for what is none, or where an option is unknown. */
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
  const request = localeOf(locale);
  const key = JSON.stringify(['number', request, options]);
  return keptFormat(key, () => new Intl.NumberFormat(request, options))?.format(number);
}

/**
 * A day, and with `time` its time, in the manner of a locale and in a time zone (UTC unless one is named). Takes ISO 8601
 * (without an offset: UTC) and seconds or milliseconds since 1970.
 *
 * @returns undefined for what is no date, or where an option is unknown
 */
export function formattedDate(
  value: unknown,
  style: unknown,
  options: Readonly<Record<string, unknown>>,
): string | undefined {
  const time = timeOf(value);
  if (Number.isNaN(time)) return undefined;
  const request = dateOptions(style, options);
  const locale = style === 'iso' ? 'sv-SE' : localeOf(options.locale);
  const key = JSON.stringify(['date', locale, request]);
  // Some clients draw the narrow space before "PM" as a box.
  return keptFormat(key, () => new Intl.DateTimeFormat(locale, request))
    ?.format(time)
    .replaceAll('\u202f', ' ');
}

/** The short style of Swedish is what writes a day as ISO 8601 has it. */
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

function localeOf(locale: unknown): string {
  return typeof locale === 'string' && isLocale(locale) ? locale : DEFAULT_LOCALE;
}

function timeOf(value: unknown): number {
  if (typeof value === 'number') {
    const time = Math.abs(value) < FIRST_MILLISECONDS ? value * 1_000 : value;
    return Math.abs(time) <= MAX_MILLISECONDS ? time : Number.NaN;
  }
  const [, day, time = '00:00', zone = 'Z'] =
    TIMESTAMP.exec(typeof value === 'string' ? value.trim() : '') ?? [];
  return day === undefined ? Number.NaN : Date.parse(`${day}T${time}${zone.toUpperCase()}`);
}
