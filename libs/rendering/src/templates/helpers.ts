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
import { printed } from './printed.ts';

type HelperOptions = Readonly<Record<string, unknown>>;

/** What is wrong with a literal, as what follows its name: `is no …; give …`. */
export type LiteralRule = (value: unknown) => string | undefined;

/** A word of the language that takes arguments and gives a value. Pure: nothing but its arguments goes in. */
export interface Helper {
  /** How it is written, for people. */
  readonly usage: string;
  readonly min: number;
  readonly max: number;
  /** Whether what is given to it is printed (and so must be there) or only asked about. */
  readonly takes: 'printed' | 'asked';
  /** Whether it can open a block: `{{#eq a b}}…{{else}}…{{/eq}}`. */
  readonly isQuestion: boolean;
  readonly options?: Readonly<Record<string, LiteralRule>>;
  /** Rules for arguments that are written into the template, by their place. */
  readonly literals?: Readonly<Record<number, LiteralRule>>;
  readonly value: (values: readonly unknown[], options: HelperOptions) => unknown;
}

const oneOf =
  (allowed: readonly string[]): LiteralRule =>
  (value) =>
    allowed.includes(value as string) ? undefined : `must be one of ${allowed.join(', ')}`;
const that =
  (holds: (text: string) => boolean, otherwise: string): LiteralRule =>
  (value) =>
    typeof value === 'string' && holds(value) ? undefined : otherwise;

const anyText: LiteralRule = (value) => (typeof value === 'string' ? undefined : 'must be a text in quotes');
const count = (max: number): LiteralRule => {
  const isCount = (value: unknown) =>
    Number.isInteger(numeric(value)) && numeric(value) >= 0 && numeric(value) <= max;
  return (value) => (isCount(value) ? undefined : `must be a whole number from 0 to ${max}`);
};
const locale = that(isLocale, 'must be a language tag such as "en-GB"');
const timeZone = that(isTimeZone, 'must be a time zone such as "Europe/Berlin"');
const MAX_SHOWN_CHARACTERS = 100_000;

function prints(
  usage: string,
  min: number,
  max: number,
  value: Helper['value'],
  more: Partial<Helper> = {},
): Helper {
  return { usage, min, max, takes: 'printed', isQuestion: false, value, ...more };
}

function asks(
  usage: string,
  min: number,
  max: number,
  holds: (values: readonly unknown[]) => boolean,
): Helper {
  return { usage, min, max, takes: 'asked', isQuestion: true, value: holds };
}

const between = (name: string, holds: (values: readonly unknown[]) => boolean): Helper =>
  asks(`(${name} a b)`, 2, 2, holds);

/** The helpers of the template language, by name; docs/api.md shows each of them. */
export const HELPERS: ReadonlyMap<string, Helper> = new Map([
  ['uppercase', prints('{{uppercase text}}', 1, 1, ([text]) => printed(text).toUpperCase())],
  ['lowercase', prints('{{lowercase text}}', 1, 1, ([text]) => printed(text).toLowerCase())],
  [
    'truncate',
    prints('{{truncate text 40 "…"}}', 2, 3, truncated, {
      literals: { 1: count(MAX_SHOWN_CHARACTERS), 2: anyText },
    }),
  ],
  ['join', prints('{{join list ", "}}', 1, 2, joined, { literals: { 1: anyText } })],
  [
    'urlEncode',
    prints('{{urlEncode text}}', 1, 1, ([text]) => encodeURIComponent(printed(text).toWellFormed())),
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
        literals: { 1: that(isCurrency, 'must be a currency such as "EUR" (ISO 4217)') },
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
  ['default', prints('{{default name "friend"}}', 2, 10, firstGiven, { takes: 'asked' })],
  ['lookup', prints('{{lookup object key}}', 2, 2, memberOf)],
  ['eq', between('eq', ([a, b]) => isEqual(a, b))],
  ['ne', between('ne', ([a, b]) => !isEqual(a, b))],
  ['gt', between('gt', ([a, b]) => compare(a, b) > 0)],
  ['gte', between('gte', ([a, b]) => compare(a, b) >= 0)],
  ['lt', between('lt', ([a, b]) => compare(a, b) < 0)],
  ['lte', between('lte', ([a, b]) => compare(a, b) <= 0)],
  ['and', asks('(and a b)', 2, 10, (values) => values.every(isTruthy))],
  ['or', asks('(or a b)', 2, 10, (values) => values.some(isTruthy))],
  ['not', asks('(not a)', 1, 1, ([value]) => !isTruthy(value))],
]);

/** What people write who come from elsewhere, and how it is said here. */
export const ELSEWHERE: ReadonlyMap<string, string> = new Map([
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

const WRITTEN_CHARACTERS = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** By code points, and before a written character (a flag, a letter with its accent) of which one would be cut off. */
function truncated([text, max, ending]: readonly unknown[]): string {
  const [whole, limit] = [printed(text), numeric(max)];
  if (!(limit >= 0) || whole.length <= limit) return whole;
  const characters = [...whole.slice(0, limit * 2 + 2)];
  if (characters.length <= limit) return whole;
  const at = characters.slice(0, limit).join('').length;
  return whole.slice(0, startOfWritten(whole, at)) + printed(ending ?? '…');
}

/** Where the written character begins that stands at an index; the index itself if it is the first one, which alone is too long. */
function startOfWritten(text: string, at: number): number {
  // ASCII continues nothing, and looking up takes longer than all else here.
  if (text[at]! < '\u0080') return at;
  return WRITTEN_CHARACTERS.segment(text.slice(0, at + 2)).containing(at)!.index || at;
}

function joined([list, separator]: readonly unknown[]): string {
  if (!Array.isArray(list)) return printed(list);
  const between = printed(separator ?? ', ');
  // Before it is made: what does not fit into the memory at one stroke would end the process.
  if (list.length * between.length > MAX_CHARACTERS) throw new OutputTooLarge();
  return list.map(printed).join(between);
}

/** An empty text is not a name to greet somebody by. */
function firstGiven(values: readonly unknown[]): unknown {
  return values.find((value) => value !== null && value !== undefined && value !== '');
}

function memberOf([object, key]: readonly unknown[]): unknown {
  const isKey = typeof key === 'string' || typeof key === 'number';
  if (!isKey || object === null || object === undefined || !Object.hasOwn(Object(object) as object, key))
    return undefined;
  return (object as Record<string | number, unknown>)[key];
}
