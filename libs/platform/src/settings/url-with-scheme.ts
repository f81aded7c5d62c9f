import { IsOfForm } from './is-of-form.ts';

/** Accepts an address that paths are appended to, as it is written. */
export function IsWebAddress(): PropertyDecorator {
  return IsOfForm(
    'a URL that begins with https:// or http://, without user, query, fragment or spaces',
    (text) => hasScheme(text, ['https', 'http']) && !/[\s?#@]/.test(text),
  );
}

/** Accepts where Redis is. What its driver makes of anything else is an exception that does not say which setting is meant. */
export function IsRedisUrl(): PropertyDecorator {
  const schemes = ['redis', 'rediss'];
  return IsOfForm(
    `a URL that begins with ${schemes.join(':// or ')}://, with user and password percent-encoded, and ends with the number of its database unless that is 0`,
    (text) => hasScheme(text, schemes) && isDecodable(text) && /^\/?\d*$/.test(new URL(text).pathname),
  );
}

function isDecodable(url: string): boolean {
  const { username, password } = new URL(url);
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/** Accepts where Postgres is. libpq takes lists of hosts, and looks for the primary among them; our driver does not, and would take such a list for a name. */
export function IsPostgresUrl(): PropertyDecorator {
  const schemes = ['postgresql', 'postgres'];
  return IsOfForm(
    `a URL that begins with ${schemes.join(':// or ')}:// and has one host, which leads to the primary`,
    (text) => hasScheme(text, schemes) && !new URL(text).hostname.includes(','),
  );
}

/** Accepts one or several absolute URLs with a host and one of `schemes` (named without their colon), separated by white space, which no URL holds. */
export function AreUrlsWithScheme(...schemes: string[]): PropertyDecorator {
  return IsOfForm(`URLs that begin with ${schemes.join(':// or ')}://, separated by spaces`, (text) =>
    text
      .trim()
      .split(/\s+/)
      .every((url) => hasScheme(url, schemes)),
  );
}

function hasScheme(text: string, schemes: readonly string[]): boolean {
  const url = URL.parse(text);
  return url !== null && url.hostname !== '' && schemes.includes(url.protocol.slice(0, -1));
}
