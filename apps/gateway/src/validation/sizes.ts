import { charactersIn, type Size } from '@posthorn/domain';

/** What is wrong with an amount; undefined when it is within the size. */
export function sizeFault(amount: number, { most, unit }: Size): string | undefined {
  if (amount <= most) return undefined;
  return `has ${grouped(amount)} ${unit}, ${grouped(amount - most)} more than the ${grouped(most)} that are possible`;
}

/** What is wrong with how many characters a text has. */
export function lengthFault(text: string, size: Size): string | undefined {
  return sizeFault(charactersIn(text, size.most), size);
}

/** The octets of a text in UTF-8; counted only where there could be more than `most`. */
export function bytesIn(text: string, most: number): number {
  // One UTF-16 unit makes at most three octets.
  return text.length * 3 <= most ? text.length : Buffer.byteLength(text);
}

function grouped(amount: number): string {
  return amount.toLocaleString('en-US');
}
