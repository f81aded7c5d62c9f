import { beginningOf } from '@posthorn/kernel';

const MAX_TEXT_CHARACTERS = 512;
/** The rest is ignored. */
const MAX_RAW_CHARACTERS = 8 * 1024;

/**
 * Makes text of another server safe to store and show: one line without control, invisible or bidirectional characters and lone
 * surrogates, of at most 512 characters.
 */
export function sanitizeText(text: string): string {
  const line = text
    .slice(0, MAX_RAW_CHARACTERS)
    .replace(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ')
    .trim();
  return beginningOf(line, MAX_TEXT_CHARACTERS);
}
