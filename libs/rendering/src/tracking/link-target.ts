/** After leading control characters and spaces, which browsers ignore (URL standard, section 4.4). */
const ABSOLUTE = /^[\u0000-\u0020]*https?:\/\//i;
/** Recognises unsubscribe links, which must work even if tracking does not. */
const UNSUBSCRIBE_LINK = /unsubscri|opt[-_]?out/i;

/**
 * The target of a link that can be tracked: the absolute http or https URL, in ASCII, as a browser would request it. Undefined for links that are
 * not tracked: other schemes, fragments, relative and unsubscribe links, and URLs with credentials, which must not be stored.
 */
export function linkTarget(value: string): string | undefined {
  if (!ABSOLUTE.test(value) || UNSUBSCRIBE_LINK.test(value)) return undefined;
  const url = URL.parse(value);
  return url === null || url.username !== '' || url.password !== '' ? undefined : url.href;
}
