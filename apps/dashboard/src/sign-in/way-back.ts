/** Where people go who came from nowhere in particular. */
export const HOME = '/';

const LONGEST = 2_000;
/** Whoever signs in there would not be where they wanted to be. */
const LEADS_NOWHERE = /^\/sign-(?:in|out)(?:[/?]|$)/;
const HERE = 'http://here.invalid';

/**
 * The page of the dashboard that somebody wanted before they had to sign in; {@link HOME} for none, and for what would lead to another
 * site: the address is in a link that anybody can write.
 */
export function wayBack(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > LONGEST || !wanted.startsWith('/')) return HOME;
  const url = URL.parse(wanted, HERE);
  if (url?.origin !== HERE) return HOME;
  const path = url.pathname + url.search;
  // `/.//evil.example` is a path here, and would be a host in a redirect.
  return path.startsWith('//') || LEADS_NOWHERE.test(path) ? HOME : path;
}

/** The address of a page to sign in at that leads back to where somebody wanted to be. */
export function signInAt(path: string, wanted: string): string {
  return wanted === HOME ? path : `${path}?${new URLSearchParams({ to: wanted }).toString()}`;
}
