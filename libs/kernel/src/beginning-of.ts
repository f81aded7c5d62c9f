/**
 * The first `max` UTF-16 code units of a text, fewer if that would cut a surrogate pair in two: half a pair is not valid JSON to many parsers, and
 * neither UTF-8 nor Postgres can hold one.
 */
export function beginningOf(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, '');
}
