const PRINTABLE_ASCII = /^[ -~\n\t]*$/;
const PRINTABLE_LINE = /^[ -~]*$/;
/** Control characters other than line breaks and tabs, and invisible or direction-changing characters. */
const UNSAFE_CHARACTERS = /[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const REPLACEMENT = '\u{fffd}';

/**
 * Converts untrusted bytes to text that is safe to store and show: decodes UTF-8, and replaces invalid bytes and unsafe characters by U+FFFD. A character that is
 * incomplete at the end is dropped.
 *
 * @param maxBytes maximum length of the text in UTF-8
 */
export function asText(bytes: Uint8Array, maxBytes: number): string {
  const beginning = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, maxBytes));
  const ascii = beginning.toString('latin1');
  if (PRINTABLE_ASCII.test(ascii)) return ascii;
  const text = readUtf8(beginning).replaceAll('\r\n', '\n');
  const fit = text.replace(UNSAFE_CHARACTERS, REPLACEMENT);
  // A replacement character may be longer than what it replaces.
  return readUtf8(Buffer.from(fit).subarray(0, maxBytes));
}

/** The same for the value of a header field: one line of ASCII; other octets have no defined meaning (RFC 9110, section 5.5). */
export function asFieldText(value: string, maxCharacters: number): string {
  const bounded = value.slice(0, maxCharacters);
  return PRINTABLE_LINE.test(bounded) ? bounded : bounded.replace(/[^ -~]/g, REPLACEMENT);
}

function readUtf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
}
