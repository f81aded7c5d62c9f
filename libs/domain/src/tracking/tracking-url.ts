/** RFC 1035, section 3.1, and what a scheme and a port add to it. */
const MAX_CHARACTERS = 267;

const EXAMPLE = 'give a scheme and a host, such as `https://links.example.com`';

/**
 * Reads the address by which recipients reach the gateway: an http or https URL of a host, with a port or not, and nothing else.
 *
 * @returns the address without a slash at its end, in ASCII and lower case; or what is wrong with the text (a predicate to be put after the name
 *   of the field)
 */
export function parseTrackingUrl(text: string): { url: string } | { fault: string } {
  const url = text.length > MAX_CHARACTERS || /\s/.test(text) ? null : URL.parse(text);
  if (url === null) return { fault: `is not a URL; ${EXAMPLE}` };
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return { fault: `begins with neither https:// nor http://; ${EXAMPLE}` };
  if (url.username !== '' || url.password !== '')
    return { fault: `has a user name or a password; ${EXAMPLE}` };
  if (url.pathname !== '/' || /[?#]/.test(text)) return { fault: `has more than a host; ${EXAMPLE}` };
  return isWritten(url.origin)
    ? { url: url.origin }
    : { fault: `has a host that no link can have; ${EXAMPLE}` };
}

/** Hosts can hold signs that have a meaning in HTML or in a header. */
function isWritten(origin: string): boolean {
  return origin.length <= MAX_CHARACTERS && /^https?:\/\/[a-z0-9.:[\]-]+$/.test(origin);
}
