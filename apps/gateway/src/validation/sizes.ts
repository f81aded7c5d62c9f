import { charactersIn, type Size } from '@posthorn/domain';

/** What is wrong with an amount; undefined when it is within the size. */
export function sizeFault(amount: number, { max, unit }: Size): string | undefined {
  if (amount <= max) return undefined;
  return `has ${grouped(amount)} ${unit}, ${grouped(amount - max)} more than the ${grouped(max)} that are possible`;
}

/** What is wrong with how many characters a text has. */
export function lengthFault(text: string, size: Size): string | undefined {
  return sizeFault(charactersIn(text, size.max), size);
}

/** The octets of a text in UTF-8; counted only where there could be more than `max`. */
export function bytesIn(text: string, max: number): number {
  // One UTF-16 unit makes at most three octets.
  return text.length * 3 <= max ? text.length : Buffer.byteLength(text);
}

function grouped(amount: number): string {
  return amount.toLocaleString('en-US');
}
