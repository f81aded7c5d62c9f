/** What browsers pass over around a URL: controls and spaces (the URL standard, section 4.4). */
const AROUND = /^[\u0000-\u0020]+|[\u0000-\u0020]+$/g;
const ABSOLUTE = /^https?:\/\//i;
/** By which links to leave are known: they must work, whatever becomes of tracking. */
const LEAVING = /unsubscri|opt[-_]?out/i;

/**
 * Where a link leads that can lead by way of us: the whole http or https URL, in ASCII, as a browser would ask for it. Undefined for one that
 * stays as it is: other schemes, fragments and relative ones, ways to unsubscribe, and URLs with credentials, which are not ours to keep.
 */
export function linkTarget(value: string): string | undefined {
  const trimmed = value.replace(AROUND, '');
  if (!ABSOLUTE.test(trimmed) || LEAVING.test(trimmed)) return undefined;
  const url = URL.parse(trimmed);
  return url === null || url.username !== '' || url.password !== '' ? undefined : url.href;
}
