/** The default redirect target. */
export const HOME = '/';

const MAX_CHARACTERS = 2_000;
/** No targets, since they would lead back to the sign-in page. */
const SIGN_IN_PATHS = /^\/sign-(?:in|out)(?:[/?]|$)/;
const BASE = 'http://here.invalid';

/**
 * The page to go to after signing in; {@link HOME} where none is given, or one of another site: anybody can write a link with a target, so this prevents
 * open redirects.
 */
export function redirectTarget(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > MAX_CHARACTERS || !wanted.startsWith('/')) return HOME;
  const url = URL.parse(wanted, BASE);
  if (url?.origin !== BASE) return HOME;
  const path = url.pathname + url.search;
  // `/.//evil.example` parses as a path, but as a redirect would lead to that host.
  return path.startsWith('//') || SIGN_IN_PATHS.test(path) ? HOME : path;
}

/** The URL of a sign-in page that leads to this target afterwards. */
export function signInUrl(path: string, wanted: string): string {
  return wanted === HOME ? path : `${path}?${new URLSearchParams({ to: wanted }).toString()}`;
}
