import { isAscii } from 'node:buffer';
import { quotedPrintableLength, startsWithFrom, writeQuotedPrintable } from './quoted-printable.ts';

/** RFC 5322, section 2.1.1, without the CRLF. */
const MAX_LINE = 998;
const BASE64_LINE = 76;
const CR = 0x0d;
const LF = 0x0a;

/** The encoded content of a part: its encoding, its length, and how to write it. */
export interface EncodedContent {
  readonly encoding: '7bit' | 'quoted-printable' | 'base64';
  /** In bytes. */
  readonly length: number;
  /** Writes it into `target` at `offset`; returns the offset after it. */
  readonly write: (target: Buffer, offset: number) => number;
}

/**
 * The shortest encoding of RFC 2045 that preserves `text`: 7bit if it is ASCII in short lines, otherwise quoted-printable or
 * base64.
 *
 * Line endings are canonical in all three, as RFC 2045, section 6.8, requires for text: CRLF, a lone LF and a lone CR are all
 * written as CRLF. Apart from that, decoding gives `text`, byte for byte.
 *
 * @param boundaries never occur in the encoded text; they must begin with `=_`, which neither
 *   quoted-printable nor base64 can produce
 */
export function encodeText(text: string, boundaries: readonly string[]): EncodedContent {
  const bytes = Buffer.from(text, 'utf8');
  if (isSevenBit(bytes) && !boundaries.some((boundary) => bytes.includes(boundary, 0, 'latin1'))) {
    const lines = withCanonicalLines(bytes);
    return { encoding: '7bit', length: lines.length, write: (target, at) => at + lines.copy(target, at) };
  }
  const quoted = quotedPrintableLength(bytes);
  // Usually quoted-printable is shorter even before canonical line endings make base64 longer.
  if (quoted > base64Length(bytes)) {
    const lines = withCanonicalLines(bytes);
    if (quoted > base64Length(lines)) return inBase64(lines.toString('base64'));
  }
  return {
    encoding: 'quoted-printable',
    length: quoted,
    write: (...to) => writeQuotedPrintable(bytes, ...to),
  };
}

/** The content of a file that is given in base64, in one line. */
export function inBase64(characters: string): EncodedContent {
  const length = linedLength(characters.length);
  return { encoding: 'base64', length, write: (...to) => writeLines(characters, ...to) };
}

/** The text with CRLF line endings. Works on bytes, because splitting a text of millions of lines would create as many strings. */
function withCanonicalLines(text: Buffer): Buffer {
  const breaks = loneBreaks(text);
  if (breaks === 0) return text;
  const bytes = Buffer.allocUnsafe(text.length + breaks);
  let out = 0;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at]!;
    if (byte === LF && text[at - 1] !== CR) bytes[out++] = CR;
    bytes[out++] = byte;
    if (byte === CR && text[at + 1] !== LF) bytes[out++] = LF;
  }
  return bytes;
}

/** The number of CR and LF that are not part of a CRLF. */
function loneBreaks(text: Buffer): number {
  let breaks = 0;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === LF ? text[at - 1] !== CR : byte === CR && text[at + 1] !== LF) breaks += 1;
  }
  return breaks;
}

function isSevenBit(bytes: Buffer): boolean {
  if (!isAscii(bytes)) return false;
  let lineStart = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]!;
    if (byte === CR || byte === LF) {
      lineStart = index + 1;
      continue;
    }
    if (byte === 0x7f || (byte < 0x20 && byte !== 0x09)) return false;
    if (index - lineStart >= MAX_LINE || (index === lineStart && startsWithFrom(bytes, index))) return false;
  }
  return true;
}

function base64Length(bytes: Buffer): number {
  return linedLength(Math.ceil(bytes.length / 3) * 4);
}

function linedLength(characters: number): number {
  return characters + 2 * Math.max(0, Math.ceil(characters / BASE64_LINE) - 1);
}

function writeLines(characters: string, target: Buffer, offset: number): number {
  let out = offset;
  for (let start = 0; start < characters.length; start += BASE64_LINE) {
    if (start > 0) out += target.write('\r\n', out, 'latin1');
    out += target.write(characters.slice(start, start + BASE64_LINE), out, 'latin1');
  }
  return out;
}
