import { beginningOf } from '@posthorn/kernel';

/** The beginning of an untrusted text of the DNS, without the characters that cannot be stored; an ellipsis stands for the rest. */
export function abbreviated(text: string, max: number): string {
  const storable = beginningOf(text, max).replaceAll(/[\p{Cc}\p{Cs}]/gu, '\u{fffd}');
  return text.length > max ? `${storable}…` : storable;
}
