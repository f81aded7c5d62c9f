import { isAscii } from 'node:buffer';
import { quotedPrintableLength, startsWithFrom, writeQuotedPrintable } from './quoted-printable.ts';

/** RFC 5322, section 2.1.1, without the CRLF. */
const MAX_LINE = 998;
const BASE64_LINE = 76;
const CR = 0x0d;
const LF = 0x0a;

/** A text in the form in which it travels: how it is encoded, how long that is, and how to write it. */
export interface EncodedText {
  readonly encoding: '7bit' | 'quoted-printable' | 'base64';
  /** In bytes. */
  readonly length: number;
  /** Writes it into `target` from `offset` on; gives the offset behind it. */
  readonly write: (target: Buffer, offset: number) => number;
}

/**
 * The shortest of the encodings of RFC 2045 that carries `text` unharmed: itself where it is ASCII in short lines,
 * else quoted-printable or base64.
 *
 * Line endings are canonical in all three, as RFC 2045, section 6.8, has it for text: CRLF, LF and CR alone all travel
 * as CRLF. But for that, what is decoded is `text`, byte for byte.
 *
 * @param boundary never occurs in what is written, whatever the text is; it must begin with `=_`, which neither
 *   quoted-printable nor base64 can produce
 */
export function encodeText(text: string, boundary: string): EncodedText {
  const bytes = Buffer.from(text, 'utf8');
  if (isSevenBit(bytes) && !bytes.includes(boundary, 0, 'latin1')) {
    const lines = withCanonicalLines(bytes);
    return { encoding: '7bit', length: lines.length, write: (target, at) => at + lines.copy(target, at) };
  }
  const quoted = quotedPrintableLength(bytes);
  // Mostly it is the shorter one already before line endings make base64 longer.
  if (quoted > base64Length(bytes)) {
    const lines = withCanonicalLines(bytes);
    const length = base64Length(lines);
    if (quoted > length) return { encoding: 'base64', length, write: (...to) => writeBase64(lines, ...to) };
  }
  return {
    encoding: 'quoted-printable',
    length: quoted,
    write: (...to) => writeQuotedPrintable(bytes, ...to),
  };
}

/** Each line ended by CRLF. Byte by byte: of a text of millions of lines the engine would make as many strings. */
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

/** How many CR and LF stand without the other. */
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
  const characters = Math.ceil(bytes.length / 3) * 4;
  return characters + 2 * Math.max(0, Math.ceil(characters / BASE64_LINE) - 1);
}

function writeBase64(bytes: Buffer, target: Buffer, offset: number): number {
  const characters = bytes.toString('base64');
  let out = offset;
  for (let start = 0; start < characters.length; start += BASE64_LINE) {
    if (start > 0) out += target.write('\r\n', out, 'latin1');
    out += target.write(characters.slice(start, start + BASE64_LINE), out, 'latin1');
  }
  return out;
}
