/**
 * At most so many characters (UTF-16 units) of a text, without half of one at its end: answers with half a surrogate pair are no JSON to
 * many parsers, and neither UTF-8 nor Postgres can hold one.
 */
export function beginningOf(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}
