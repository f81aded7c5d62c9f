import { readEscapedKeys } from './escaped-keys.ts';
import { endOfString } from './json-strings.ts';

/**
 * Parses JSON that we have written ourselves, or judged when it came: as `JSON.parse` does, but for keys that are written with
 * a backslash, which V8 can misread. Whatever has keys of a caller's choice must be read with this.
 *
 * @param text of bounded depth
 * @throws SyntaxError when it is not JSON
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasEscapedKey(text) ? readEscapedKeys(text) : value;
}

/** A key is a string before a colon. */
function hasEscapedKey(text: string): boolean {
  if (!text.includes('\\')) return false;
  for (let start = text.indexOf('"'); start >= 0;) {
    const end = endOfString(text, start);
    const next = text.indexOf('"', end + 1);
    const isKey = text
      .slice(end + 1, next < 0 ? undefined : next)
      .trimStart()
      .startsWith(':');
    if (isKey && text.slice(start, end).includes('\\')) return true;
    start = next;
  }
  return false;
}
