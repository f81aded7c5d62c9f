import { countCharacters, type Size } from '@posthorn/domain';

/** The fault of an amount; undefined when it is within the size. */
export function sizeFault(amount: number, { max, unit }: Size): string | undefined {
  if (amount <= max) return undefined;
  return `has ${grouped(amount)} ${unit}, ${grouped(amount - max)} more than the ${grouped(max)} allowed`;
}

/** The fault of a text's length in characters; undefined when it is within the size. */
export function lengthFault(text: string, size: Size): string | undefined {
  return sizeFault(countCharacters(text, size.max), size);
}

/** The length of a text in octets of UTF-8, where it can exceed `max`; otherwise a lower number. */
export function bytesIn(text: string, max: number): number {
  // A UTF-16 code unit takes at most three octets.
  return text.length * 3 <= max ? text.length : Buffer.byteLength(text);
}

function grouped(amount: number): string {
  return amount.toLocaleString('en-US');
}
