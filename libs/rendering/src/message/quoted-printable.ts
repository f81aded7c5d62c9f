const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const DOT = 0x2e;
const EQUALS = 0x3d;
const CAPITAL_F = 0x46;

/** RFC 2045, section 6.7, rule 5: 76 characters, the `=` of a soft line break included. */
const MAX_BEFORE_SOFT_BREAK = 75;

const ESCAPE_WIDTH = 3;

/** 1 for a byte that is literal in the middle of a line, 0 for one that is escaped. */
const LITERAL = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === TAB || (byte >= SPACE && byte < 0x7f && byte !== EQUALS) ? 1 : 0,
);
const HEX = Buffer.from('0123456789ABCDEF', 'latin1');

/** How many bytes {@link writeQuotedPrintable} writes for `source`. */
export function quotedPrintableLength(source: Buffer): number {
  return encode(source, undefined, 0);
}

/**
 * Writes `source` in quoted-printable (RFC 2045, section 6.7) into `target` at `offset`, and returns the offset after it.
 * A lone LF or CR is written as CRLF too. No line has more than 76 characters.
 */
export function writeQuotedPrintable(source: Buffer, target: Buffer, offset: number): number {
  return encode(source, target, offset);
}

/** Counts and, given a target, writes in the same loop, so that the two never differ. Processes runs of literal bytes, because that is faster than single bytes. */
function encode(source: Buffer, target: Buffer | undefined, offset: number): number {
  let out = offset;
  let column = 0;
  let index = 0;
  while (index < source.length) {
    const end = endOfRun(source, index, column);
    if (end > index) {
      if (target !== undefined) copyRun(source, index, end, target, out);
      out += end - index;
      column += end - index;
      index = end;
    } else if (isBreak(source[index]!)) {
      if (target !== undefined) writeBreak(target, out);
      out += 2;
      column = 0;
      index += source[index] === CR && source[index + 1] === LF ? 2 : 1;
    } else if (column + ESCAPE_WIDTH > MAX_BEFORE_SOFT_BREAK) {
      if (target !== undefined) writeSoftBreak(target, out);
      out += 3;
      column = 0;
    } else {
      if (target !== undefined) writeEscape(target, out, source[index]!);
      out += ESCAPE_WIDTH;
      column += ESCAPE_WIDTH;
      index += 1;
    }
  }
  return out;
}

/** The end of the run of literal bytes from `index` on that fits into the line. */
function endOfRun(source: Buffer, index: number, column: number): number {
  if (column === 0 && isFragile(source, index)) return index;
  const limit = Math.min(source.length, index + MAX_BEFORE_SOFT_BREAK - column);
  let end = index;
  while (end < limit && LITERAL[source[end]!] === 1) end += 1;
  // A space or tab at the end of a line is escaped, because relays may drop it (rule 3).
  return end > index && isBlank(source[end - 1]!) && isEndOfLine(source, end) ? end - 1 : end;
}

function copyRun(source: Buffer, from: number, to: number, target: Buffer, offset: number): void {
  // At most one line: faster than a call of `Buffer.copy`.
  for (let index = from; index < to; index += 1) target[offset + index - from] = source[index]!;
}

function writeBreak(target: Buffer, offset: number): void {
  target[offset] = CR;
  target[offset + 1] = LF;
}

function writeSoftBreak(target: Buffer, offset: number): void {
  target[offset] = EQUALS;
  writeBreak(target, offset + 1);
}

function writeEscape(target: Buffer, offset: number, byte: number): void {
  target[offset] = EQUALS;
  target[offset + 1] = HEX[byte >> 4]!;
  target[offset + 2] = HEX[byte & 15]!;
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}

function isEndOfLine(source: Buffer, index: number): boolean {
  return index === source.length || isBreak(source[index]!);
}

function isBreak(byte: number): boolean {
  return byte === CR || byte === LF;
}

/** At the start of a line, SMTP doubles a dot and mbox files put `>` before `From `; not every relay reverses that. */
function isFragile(source: Buffer, index: number): boolean {
  return source[index] === DOT || startsWithFrom(source, index);
}

/** Whether `From ` is at `index`. */
export function startsWithFrom(source: Buffer, index: number): boolean {
  return (
    source[index] === CAPITAL_F &&
    source[index + 1] === 0x72 &&
    source[index + 2] === 0x6f &&
    source[index + 3] === 0x6d &&
    source[index + 4] === SPACE
  );
}
