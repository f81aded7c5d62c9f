import { IsOfForm } from './is-of-form.ts';

/** Accepts an absolute URL with a host and one of `schemes` (named without their colon). */
export function IsUrlWithScheme(...schemes: string[]): PropertyDecorator {
  return IsOfForm(`a URL that begins with ${schemes.join(':// or ')}://`, (text) => hasScheme(text, schemes));
}

/** Accepts where Postgres is. libpq takes lists of hosts, and looks for the primary among them; our driver does not, and would take such a list for a name. */
export function IsPostgresUrl(): PropertyDecorator {
  const schemes = ['postgresql', 'postgres'];
  return IsOfForm(
    `a URL that begins with ${schemes.join(':// or ')}:// and has one host, which leads to the primary`,
    (text) => hasScheme(text, schemes) && !new URL(text).hostname.includes(','),
  );
}

/** Accepts one or several such URLs, separated by white space, which no URL holds. */
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
