/**
 * The first `most` UTF-16 code units of a text, fewer if that would cut a surrogate pair in two: half a pair is not valid JSON to many parsers, and
 * neither UTF-8 nor Postgres can hold one.
 */
export function beginningOf(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}
