const PRINTABLE_ASCII = /^[ -~\n\t]*$/;
const PRINTABLE_LINE = /^[ -~]*$/;
/** Controls but for line breaks and tabs, and characters that are not seen or turn the direction. */
const UNFIT = /[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const REPLACEMENT = '\u{fffd}';

/**
 * Makes what a stranger has sent fit to be kept and shown as text: it is read as UTF-8, and what is none, and what cannot be seen,
 * becomes U+FFFD. A character that the end cuts through is left out.
 *
 * @param maxBytes how many octets of UTF-8 the text may have
 */
export function asText(bytes: Uint8Array, maxBytes: number): string {
  const beginning = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, maxBytes));
  const ascii = beginning.toString('latin1');
  if (PRINTABLE_ASCII.test(ascii)) return ascii;
  const text = readUtf8(beginning).replaceAll('\r\n', '\n');
  const fit = text.replace(UNFIT, REPLACEMENT);
  // A replacement may be longer than what it stands for.
  const encoded = Buffer.from(fit);
  return encoded.length <= maxBytes ? fit : readUtf8(encoded.subarray(0, maxBytes));
}

/** A value of a header field: one line. Octets beyond ASCII mean nothing there (RFC 9110, section 5.5). */
export function asFieldText(value: string, maxCharacters: number): string {
  const bounded = value.length > maxCharacters ? value.slice(0, maxCharacters) : value;
  return PRINTABLE_LINE.test(bounded) ? bounded : bounded.replace(/[^ -~]/g, REPLACEMENT);
}

function readUtf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
}
