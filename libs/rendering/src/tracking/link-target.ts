/** Behind the controls and spaces that browsers pass over (the URL standard, section 4.4). */
const ABSOLUTE = /^[\u0000-\u0020]*https?:\/\//i;
/** By which links to leave are known: they must work, whatever becomes of tracking. */
const LEAVING = /unsubscri|opt[-_]?out/i;

/**
 * Where a link leads that can lead by way of us: the whole http or https URL, in ASCII, as a browser would ask for it. Undefined for one that
 * stays as it is: other schemes, fragments and relative ones, ways to unsubscribe, and URLs with credentials, which are not ours to keep.
 */
export function linkTarget(value: string): string | undefined {
  if (!ABSOLUTE.test(value) || LEAVING.test(value)) return undefined;
  const url = URL.parse(value);
  return url === null || url.username !== '' || url.password !== '' ? undefined : url.href;
}
