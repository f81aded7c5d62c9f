import { beginningOf } from '@posthorn/kernel';

const MAX_TEXT_CHARACTERS = 512;
/** Beyond this nothing is looked at. */
const MAX_RAW_CHARACTERS = 8 * 1024;

/**
 * Makes a server's words fit to be kept and shown: no controls, no invisible or reversing characters, no lone
 * surrogates, at most 512 characters.
 */
export function boundText(text: string): string {
  const line = text
    .slice(0, MAX_RAW_CHARACTERS)
    .replace(/[\s\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]+/gu, ' ')
    .trim();
  return beginningOf(line, MAX_TEXT_CHARACTERS);
}
