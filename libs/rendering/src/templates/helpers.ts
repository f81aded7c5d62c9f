import { compare, isEqual, isTruthy, numeric } from './comparisons.ts';
import {
  DATE_STYLES,
  formattedCurrency,
  formattedDate,
  formattedNumber,
  isCurrency,
  isLocale,
  isTimeZone,
  MAX_DECIMALS,
  TIME_STYLES,
} from './formats.ts';
import { MAX_CHARACTERS, OutputTooLarge } from './output.ts';
import { valueToText } from './value-to-text.ts';

type HelperOptions = Readonly<Record<string, unknown>>;

/** The fault of a literal, as the rest of a sentence that begins with its name; undefined: none. */
export type LiteralRule = (value: unknown) => string | undefined;

/** A helper of the template language: a pure function of its arguments. */
export interface Helper {
  /** An example, shown in faults. */
  readonly usage: string;
  readonly min: number;
  readonly max: number;
  /** Whether its arguments are printed (and so required) or only tested. */
  readonly takes: 'printed' | 'tested';
  /** Whether it can open a block: `{{#eq a b}}…{{else}}…{{/eq}}`. */
  readonly isCondition: boolean;
  readonly options?: Readonly<Record<string, LiteralRule>>;
  /** Rules for literal arguments, by their index. */
  readonly literals?: Readonly<Record<number, LiteralRule>>;
  readonly value: (values: readonly unknown[], options: HelperOptions) => unknown;
}

const oneOf =
  (allowed: readonly string[]): LiteralRule =>
  (value) =>
    allowed.includes(value as string) ? undefined : `must be one of ${allowed.join(', ')}`;
const textThat =
  (holds: (text: string) => boolean, otherwise: string): LiteralRule =>
  (value) =>
    typeof value === 'string' && holds(value) ? undefined : otherwise;

const anyText: LiteralRule = (value) => (typeof value === 'string' ? undefined : 'must be a text in quotes');
const count = (max: number): LiteralRule => {
  const isCount = (value: unknown) =>
    Number.isInteger(numeric(value)) && numeric(value) >= 0 && numeric(value) <= max;
  return (value) => (isCount(value) ? undefined : `must be a whole number from 0 to ${max}`);
};
const locale = textThat(isLocale, 'must be a language tag such as "en-GB"');
const timeZone = textThat(isTimeZone, 'must be a time zone such as "Europe/Berlin"');
const MAX_SHOWN_CHARACTERS = 100_000;

function prints(
  usage: string,
  min: number,
  max: number,
  value: Helper['value'],
  more: Partial<Helper> = {},
): Helper {
  return { usage, min, max, takes: 'printed', isCondition: false, value, ...more };
}

function condition(
  usage: string,
  min: number,
  max: number,
  holds: (values: readonly unknown[]) => boolean,
): Helper {
  return { usage, min, max, takes: 'tested', isCondition: true, value: holds };
}

const comparison = (name: string, holds: (values: readonly unknown[]) => boolean): Helper =>
  condition(`(${name} a b)`, 2, 2, holds);

/** The helpers of the template language, by name; docs/api.md shows each of them. */
export const HELPERS: ReadonlyMap<string, Helper> = new Map([
  ['uppercase', prints('{{uppercase text}}', 1, 1, ([text]) => valueToText(text).toUpperCase())],
  ['lowercase', prints('{{lowercase text}}', 1, 1, ([text]) => valueToText(text).toLowerCase())],
  [
    'truncate',
    prints('{{truncate text 40 "…"}}', 2, 3, truncated, {
      literals: { 1: count(MAX_SHOWN_CHARACTERS), 2: anyText },
    }),
  ],
  ['join', prints('{{join list ", "}}', 1, 2, joined, { literals: { 1: anyText } })],
  [
    'urlEncode',
    prints('{{urlEncode text}}', 1, 1, ([text]) => encodeURIComponent(valueToText(text).toWellFormed())),
  ],
  [
    'number',
    prints(
      '{{number value decimals=2 locale="en-GB"}}',
      1,
      1,
      ([value], options) => formattedNumber(value, options) ?? value,
      {
        options: { decimals: count(MAX_DECIMALS), locale },
      },
    ),
  ],
  [
    'currency',
    prints(
      '{{currency amount "EUR" locale="en-GB"}}',
      2,
      2,
      ([value, code], options) => formattedCurrency(value, code, options) ?? value,
      {
        options: { decimals: count(MAX_DECIMALS), locale },
        literals: { 1: textThat(isCurrency, 'must be a currency such as "EUR" (ISO 4217)') },
      },
    ),
  ],
  [
    'date',
    prints(
      '{{date when "long" time="short" timeZone="Europe/Berlin" locale="en-GB"}}',
      1,
      2,
      ([value, style], options) => formattedDate(value, style, options) ?? value,
      { options: { time: oneOf(TIME_STYLES), timeZone, locale }, literals: { 1: oneOf(DATE_STYLES) } },
    ),
  ],
  ['default', prints('{{default name "friend"}}', 2, 10, firstNonEmpty, { takes: 'tested' })],
  ['lookup', prints('{{lookup object key}}', 2, 2, memberOf)],
  ['eq', comparison('eq', ([a, b]) => isEqual(a, b))],
  ['ne', comparison('ne', ([a, b]) => !isEqual(a, b))],
  ['gt', comparison('gt', ([a, b]) => compare(a, b) > 0)],
  ['gte', comparison('gte', ([a, b]) => compare(a, b) >= 0)],
  ['lt', comparison('lt', ([a, b]) => compare(a, b) < 0)],
  ['lte', comparison('lte', ([a, b]) => compare(a, b) <= 0)],
  ['and', condition('(and a b)', 2, 10, (values) => values.every(isTruthy))],
  ['or', condition('(or a b)', 2, 10, (values) => values.some(isTruthy))],
  ['not', condition('(not a)', 1, 1, ([value]) => !isTruthy(value))],
]);

/** Helpers of other template languages, and their equivalents in this one. */
export const FOREIGN_HELPERS: ReadonlyMap<string, string> = new Map([
  ['equals', '(eq a b)'],
  ['equal', '(eq a b)'],
  ['is', '(eq a b)'],
  ['notEquals', '(ne a b)'],
  ['isnt', '(ne a b)'],
  ['greaterThan', '(gt a b)'],
  ['lessThan', '(lt a b)'],
  ['insert', '{{default name "friend"}}'],
  ['formatDate', '{{date when "long"}}'],
  ['dateFormat', '{{date when "long"}}'],
  ['formatNumber', '{{number value}}'],
  ['formatCurrency', '{{currency amount "EUR"}}'],
  ['upper', '{{uppercase text}}'],
  ['toUpperCase', '{{uppercase text}}'],
  ['lower', '{{lowercase text}}'],
  ['toLowerCase', '{{lowercase text}}'],
  ['encodeURIComponent', '{{urlEncode text}}'],
  ['length', '{{list.length}}'],
  ['elseif', '{{else if a}}'],
  ['elsif', '{{else if a}}'],
  ['foreach', '{{#each list}}…{{/each}}'],
  ['log', '{{!-- a comment --}}'],
]);

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Counts code points, but never cuts through a grapheme, such as a flag or a letter with a combining accent. */
function truncated([text, max, ending]: readonly unknown[]): string {
  const [whole, limit] = [valueToText(text), numeric(max)];
  if (!(limit >= 0) || whole.length <= limit) return whole;
  const characters = [...whole.slice(0, limit * 2 + 2)];
  if (characters.length <= limit) return whole;
  const at = characters.slice(0, limit).join('').length;
  return whole.slice(0, startOfGrapheme(whole, at)) + valueToText(ending ?? '…');
}

/** The start of the grapheme at an index; the index itself if the grapheme is the first one, because something must be kept. */
function startOfGrapheme(text: string, at: number): number {
  // ASCII never continues a grapheme; segmenting is the most expensive step here.
  if (text[at]! < '\u0080') return at;
  return GRAPHEMES.segment(text.slice(0, at + 2)).containing(at)!.index || at;
}

function joined([list, separator]: readonly unknown[]): string {
  if (!Array.isArray(list)) return valueToText(list);
  const between = valueToText(separator ?? ', ');
  // Checked before allocating: a single allocation that does not fit into memory would crash the process.
  if (list.length * between.length > MAX_CHARACTERS) throw new OutputTooLarge();
  return list.map(valueToText).join(between);
}

/** An empty text counts as missing, so that `default` also replaces an empty name. */
function firstNonEmpty(values: readonly unknown[]): unknown {
  return values.find((value) => value !== null && value !== undefined && value !== '');
}

function memberOf([object, key]: readonly unknown[]): unknown {
  const isKey = typeof key === 'string' || typeof key === 'number';
  // `Object` makes an empty object of null and undefined.
  if (!isKey || !Object.hasOwn(Object(object) as object, key)) return undefined;
  return (object as Record<string | number, unknown>)[key];
}
