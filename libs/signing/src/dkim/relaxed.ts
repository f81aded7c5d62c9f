const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** A header field as it stands in a message, folded or not, without the CRLF at its end; a character for each byte (latin1). */
export interface RawField {
  /** In lower case. */
  readonly name: string;
  readonly raw: string;
}

/** The header fields of a message in order, and the offset of its body, behind the first empty line. */
export function readHead(message: Buffer): {
  readonly fields: readonly RawField[];
  readonly bodyStart: number;
} {
  const headEnd = message.indexOf('\r\n\r\n');
  const lines = message.toString('latin1', 0, headEnd).split(/\r\n(?![ \t])/);
  const fields = lines.map((raw) => ({ name: raw.slice(0, raw.indexOf(':')).trim().toLowerCase(), raw }));
  return { fields, bodyStart: headEnd + 4 };
}

/** White space that is not a single space already. Not `\s`, which would match a byte of UTF-8 as a no-break space. */
const NO_SINGLE_SPACE = /[ \t]{2,}|\t/g;

/** A header field in the "relaxed" form (RFC 6376, section 3.4.2), without a CRLF at its end. */
export function relaxedField({ name, raw }: RawField): string {
  const value = raw
    .slice(raw.indexOf(':') + 1)
    .replaceAll('\r\n', '')
    .replaceAll(NO_SINGLE_SPACE, ' ');
  const end = value.endsWith(' ') ? -1 : undefined;
  return `${name}:${value.slice(value.startsWith(' ') ? 1 : 0, end)}`;
}

/**
 * A body in the "relaxed" form (RFC 6376, section 3.4.4): runs of blanks are one space, none before the end of a line, no empty
 * lines at the end, and a CRLF behind the last line if there is any.
 *
 * Byte by byte into one buffer: it is done for every email, and a body may have megabytes.
 */
export function relaxedBody(body: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(body.length + 2);
  let length = 0;
  let blanks = false;
  let lineEnds = 0;
  for (let index = 0; index < body.length; index += 1) {
    const byte = body[index]!;
    if (byte === SPACE || byte === TAB) {
      blanks = true;
    } else if (byte === CR && body[index + 1] === LF) {
      index += 1;
      lineEnds += 1;
      blanks = false;
    } else {
      for (; lineEnds > 0; lineEnds -= 1) {
        out[length++] = CR;
        out[length++] = LF;
      }
      if (blanks) out[length++] = SPACE;
      blanks = false;
      out[length++] = byte;
    }
  }
  if (length === 0) return out.subarray(0, 0);
  out[length++] = CR;
  out[length++] = LF;
  return out.subarray(0, length);
}
