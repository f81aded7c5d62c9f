import { beginningOf } from '@posthorn/kernel';

/** The beginning of an untrusted text, with U+FFFD for characters that cannot be stored or shown; an ellipsis stands for the rest. */
export function abbreviated(text: string, max: number): string {
  const shown = beginningOf(text, max).replaceAll(/[\p{Cc}\p{Cs}]/gu, '\u{fffd}');
  return text.length > max ? `${shown}…` : shown;
}
