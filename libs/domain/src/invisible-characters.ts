/** C0 and C1 controls and DEL: no string that becomes a header may hold one (RFC 5322, section 2.2). */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/u;

/** Nearly all texts match this, which spares them the other expressions. */
const PRINTABLE_ASCII = /^[ -~]*$/;

/** Line separators, direction marks and overrides, zero-width, filler and tag characters: they make a text look like another. */
const DECEPTIVE =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u;

/**
 * What is spelling and not disguise: joiners inside a word of a script that needs them or inside an emoji, the flags of England, Scotland
 * and the like (UTS 51, ED-14a), and the form of an ideograph (UTS 37), which is how some names in Japan are written.
 */
const IN_PLACE = new RegExp(
  [
    '(?<=[^\\u0000-\\u02ff])[\\u200c\\u200d](?=[^\\u0000-\\u02ff])',
    '(?<=\\u{1f3f4})[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]{3,6}\\u{e007f}',
    '(?<=\\p{Unified_Ideograph})[\\u{e0100}-\\u{e01ef}]',
  ].join('|'),
  'gu',
);

/** Hebrew, Arabic and the other scripts that run from right to left. */
const RIGHT_TO_LEFT =
  /[\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** They put digits and punctuation of such a script on the side where they belong, and turn nothing around, as overrides do. */
const DIRECTION_MARKS = /[\u061c\u200e\u200f]/gu;

const NAMES = new Map([
  ['\0', 'a NUL'],
  ['\t', 'a tab'],
  ['\n', 'a line break'],
  ['\r', 'a carriage return'],
]);

/** The first control character of a text that becomes a header value, as a fault; undefined when there is none. */
export function faultInHeaderText(text: string): string | undefined {
  const found = CONTROL.exec(text);
  return found ? describe(found, 'a control character') : undefined;
}

/**
 * As {@link faultInHeaderText}, and for characters that cannot be seen or that turn the direction of the text, where they are not part of
 * how it is spelt.
 */
export function faultInVisibleText(text: string): string | undefined {
  return PRINTABLE_ASCII.test(text) ? undefined : faultInUnicode(text, withoutSpelling(text));
}

/** As {@link faultInVisibleText}, without an exception for spelling: inside an address such characters only ever deceive. */
export function faultInAddressText(text: string): string | undefined {
  return PRINTABLE_ASCII.test(text) ? undefined : faultInUnicode(text, text);
}

function faultInUnicode(text: string, judged: string): string | undefined {
  const control = faultInHeaderText(text);
  if (control !== undefined) return control;
  const found = DECEPTIVE.exec(judged);
  return found ? describe(found, 'a character that cannot be seen') : undefined;
}

/** The text with letters in the place of all that is spelling, so that what is left stands where it stood. */
function withoutSpelling(text: string): string {
  const unjoined = text.replace(IN_PLACE, ({ length }) => 'x'.repeat(length));
  return RIGHT_TO_LEFT.test(text) ? unjoined.replace(DIRECTION_MARKS, 'x') : unjoined;
}

function describe(found: RegExpExecArray, otherwise: string): string {
  const code = found[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  const name = NAMES.get(found[0]) ?? otherwise;
  return `holds ${name} (U+${code}) at character ${found.index + 1}; take it out`;
}
