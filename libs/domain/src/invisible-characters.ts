/** C0 and C1 controls and DEL, which header values must not contain (RFC 5322, section 2.2). */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/u;

/** A fast path: nearly all texts match this. */
const PRINTABLE_ASCII = /^[ -~]*$/;

/** Line separators, direction marks and overrides, zero-width, filler and tag characters, which can make a text look like another. */
const DECEPTIVE =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u;

/**
 * Legitimate uses: joiners within words of scripts that need them and within emojis, subdivision flags such as Scotland's (UTS 51, ED-14a),
 * and variation selectors of ideographs (UTS 37), which some Japanese names need.
 */
const LEGITIMATE = new RegExp(
  [
    '(?<=[^\\u0000-\\u02ff])[\\u200c\\u200d](?=[^\\u0000-\\u02ff])',
    '(?<=\\u{1f3f4})[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]{3,6}\\u{e007f}',
    '(?<=\\p{Unified_Ideograph})[\\u{e0100}-\\u{e01ef}]',
  ].join('|'),
  'gu',
);

/** Hebrew, Arabic and other right-to-left scripts. */
const RIGHT_TO_LEFT =
  /[\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** Marks that place digits and punctuation correctly in right-to-left text; unlike overrides, they do not reverse text. */
const DIRECTION_MARKS = /[\u061c\u200e\u200f]/gu;

const NAMES = new Map([
  ['\0', 'a NUL'],
  ['\t', 'a tab'],
  ['\n', 'a line break'],
  ['\r', 'a carriage return'],
]);

/** The fault of a header value with a control character; undefined when there is none. */
export function faultInHeaderText(text: string): string | undefined {
  const found = CONTROL.exec(text);
  return found ? describe(found, 'a control character') : undefined;
}

/**
 * As {@link faultInHeaderText}, and for invisible characters and those that change the direction of text, except in legitimate uses.
 */
export function faultInVisibleText(text: string): string | undefined {
  return PRINTABLE_ASCII.test(text) ? undefined : faultInUnicode(text, withoutLegitimate(text));
}

/** As {@link faultInVisibleText}, without exceptions: such characters have no legitimate use in an address. */
export function faultInAddressText(text: string): string | undefined {
  return PRINTABLE_ASCII.test(text) ? undefined : faultInUnicode(text, text);
}

function faultInUnicode(text: string, searched: string): string | undefined {
  const control = faultInHeaderText(text);
  if (control !== undefined) return control;
  const found = DECEPTIVE.exec(searched);
  return found ? describe(found, 'a character that cannot be seen') : undefined;
}

/** The text with legitimate uses replaced by letters, so that all other characters keep their index. */
function withoutLegitimate(text: string): string {
  const unjoined = text.replace(LEGITIMATE, ({ length }) => 'x'.repeat(length));
  return RIGHT_TO_LEFT.test(text) ? unjoined.replace(DIRECTION_MARKS, 'x') : unjoined;
}

function describe(found: RegExpExecArray, otherwise: string): string {
  const code = found[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  const name = NAMES.get(found[0]) ?? otherwise;
  return `holds ${name} (U+${code}) at character ${found.index + 1}; remove it`;
}
