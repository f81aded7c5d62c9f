import { randomBytes } from 'node:crypto';

/** Base 62, in the order of ASCII. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 62 that fits into a byte: larger bytes would favour the first characters. */
const UNBIASED_BYTES = 248;

/** Random characters of base 62, almost 6 bits each. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length)) {
      if (byte < UNBIASED_BYTES) text += BASE62[byte % 62]!;
    }
  }
  return text;
}
