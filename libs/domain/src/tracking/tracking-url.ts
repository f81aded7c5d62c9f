import { withoutTrailing } from '@posthorn/kernel';

/** The limit of a host name (RFC 1035, section 3.1), and room for a scheme and a port. */
const MAX_CHARACTERS = 267;

const EXAMPLE = 'give a scheme and a host, such as `https://links.example.com`';

/**
 * Parses the base URL of tracked links: http or https, a host and an optional port, and nothing else.
 *
 * @returns the URL without a trailing slash, in ASCII and lower case; or what is wrong with the text (a predicate to be put after the name of
 *   the field)
 */
export function parseTrackingUrl(text: string): { url: string } | { fault: string } {
  const url = text.length > MAX_CHARACTERS || /\s/.test(text) ? null : URL.parse(text);
  if (url === null) return { fault: `is not a URL; ${EXAMPLE}` };
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return { fault: `begins with neither https:// nor http://; ${EXAMPLE}` };
  if (url.username !== '' || url.password !== '')
    return { fault: `has a user name or a password; ${EXAMPLE}` };
  if (url.pathname !== '/' || /[?#]/.test(text)) return { fault: `has more than a host; ${EXAMPLE}` };
  return hasPlainHost(url.origin)
    ? { url: url.origin }
    : { fault: `has a host that no link can have; ${EXAMPLE}` };
}

/** The name of the host of a URL: without its port, and without the dot of the root, with which a browser finds the same host. */
export function hostNameOf(url: string): string {
  return withoutTrailing(new URL(url).hostname, '.');
}

/** The name in the `Host` header of a request, as {@link hostNameOf} gives it; undefined: none, or one that no tracking URL can have. */
export function hostNameIn(header = ''): string | undefined {
  const parsed = parseTrackingUrl(`http://${header}`);
  return 'url' in parsed ? hostNameOf(parsed.url) : undefined;
}

/** Excludes hosts with characters that have a meaning in HTML or headers, which `URL` permits. */
function hasPlainHost(origin: string): boolean {
  return origin.length <= MAX_CHARACTERS && /^https?:\/\/[a-z0-9.:[\]-]+$/.test(origin);
}
