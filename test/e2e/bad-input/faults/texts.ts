import { type Fault, shown, texts } from '../cases.ts';

/** The C0 and C1 control characters and DEL, without NUL, which is refused everywhere. */
export const CONTROLS: readonly string[] = [
  ...Array.from({ length: 0x1f }, (_, n) => String.fromCodePoint(n + 1)),
  ...Array.from({ length: 0x21 }, (_, n) => String.fromCodePoint(0x7f + n)),
];

/** Invisible characters, and those that change the direction of text. */
export const INVISIBLE: readonly string[] = [
  ...'\u00ad\u034f\u061c\u115f\u1160\u17b4\u180e\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060',
  ...'\u2061\u2064\u2066\u2067\u2068\u2069\u206a\u206f\u3164\ufeff\uffa0\ufff9\ufffb\u{e0001}\u{e0041}\u{e007f}\u{e0100}',
];

/** Attempts at header injection. */
const INJECTIONS = texts(
  'Hello\r\nBcc: victim@example.net',
  'Hello\nBcc: victim@example.net',
  'Hello\rBcc: victim@example.net',
  'Hello\r\n\r\n<html>',
  '\r\nSubject: other',
  'Hello\r\n',
  '\nHello',
  'Hello\r\n Hello',
);

/** Invalid values for a single header line. */
export const INVALID_HEADER_LINES: readonly Fault[] = [
  { what: 'empty', value: '' },
  ...INJECTIONS,
  ...CONTROLS.flatMap((control) => texts(`A${control}B`)),
  ...texts('\tA', 'A\t', '\x1b[31mA', '\x85A'),
];

/** Invalid display names of a mailbox, quoted or not. */
export const INVALID_NAMES: readonly Fault[] = [
  ...CONTROLS.flatMap((control) => texts(`A${control}B`)),
  ...INVISIBLE.flatMap((character) => texts(`A${character}B`, `${character}Ada`)),
  ...texts('=?utf-8?q?A?=', 'A =?UTF-8?B?QQ==?= B', '=?a?b?c?='),
  ...texts('A\u200d', '\u200cA', 'A\u200dB', 'a\u200cb'),
  { what: '256 characters', value: 'N'.repeat(256), says: '256 characters; at most 255' },
  { what: '256 emojis', value: '😀'.repeat(256), says: '256 characters; at most 255' },
];

/** Values longer than `max` characters; the message must say by how much. */
export function tooLong(max: number): Fault[] {
  const more = (by: number): string =>
    `${(max + by).toLocaleString('en-US')} characters, ${by.toLocaleString('en-US')} more than the ${max.toLocaleString('en-US')}`;
  return [
    { what: `${max + 1} letters`, value: 'x'.repeat(max + 1), says: more(1) },
    { what: `${max + 1} emojis`, value: '😀'.repeat(max + 1), says: more(1) },
    { what: `${max + 1} of three bytes`, value: '漢'.repeat(max + 1), says: more(1) },
    { what: `${max + 50_000} letters`, value: 'x'.repeat(max + 50_000), says: more(50_000) },
  ].map((fault) => ({ ...fault, what: shown(fault.what) }));
}
