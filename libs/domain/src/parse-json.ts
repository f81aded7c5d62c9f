import { readEscapedKeys } from './escaped-keys.ts';
import { endOfString } from './json-strings.ts';

/**
 * `JSON.parse`, but correct for keys with a backslash, which V8 can misread (see {@link readEscapedKeys}). It must be used for all
 * stored JSON whose keys callers chose.
 *
 * @param text its depth must be bounded already
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
