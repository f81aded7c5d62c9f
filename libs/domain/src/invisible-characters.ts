/** C0 and C1 controls and DEL: no string that becomes a header may hold one (RFC 5322, section 2.2). */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/u;

/** By far most texts; one look at them spares the others. */
const PRINTABLE_ASCII = /^[ -~]*$/;

/** Line separators, direction marks and overrides, zero-width, filler and tag characters: they make a text look like another. */
const DECEPTIVE =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u;

/** Joiners inside a word of a script that needs them, or inside an emoji: they are spelling there and not disguise. */
const JOINER_IN_PLACE = /(?<=[^\u0000-\u02ff])[\u200c\u200d](?=[^\u0000-\u02ff])/gu;

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

/** As {@link faultInHeaderText}, and for characters that cannot be seen or that turn the direction of the text. */
export function faultInVisibleText(text: string): string | undefined {
  if (PRINTABLE_ASCII.test(text)) return undefined;
  const control = faultInHeaderText(text);
  if (control !== undefined) return control;
  const found = DECEPTIVE.exec(text.replace(JOINER_IN_PLACE, 'x'));
  return found ? describe(found, 'a character that cannot be seen') : undefined;
}

/** As {@link faultInVisibleText}, without the exception for joiners: inside an address they only ever deceive. */
export function faultInAddressText(text: string): string | undefined {
  if (PRINTABLE_ASCII.test(text)) return undefined;
  const control = faultInHeaderText(text);
  if (control !== undefined) return control;
  const found = DECEPTIVE.exec(text);
  return found ? describe(found, 'a character that cannot be seen') : undefined;
}

function describe(found: RegExpExecArray, otherwise: string): string {
  const code = found[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  const name = NAMES.get(found[0]) ?? otherwise;
  return `holds ${name} (U+${code}) at character ${found.index + 1}; take it out`;
}
