import { withoutTrailing } from '@posthorn/kernel';
import { HasForm } from './has-form.ts';

/** Accepts a base URL, to which paths are appended. */
export function IsWebAddress(): PropertyDecorator {
  return HasForm(
    'a URL that begins with https:// or http://, without user, query, fragment or spaces',
    (text) => hasScheme(text, ['https', 'http']) && !/[\s?#@]/.test(text),
  );
}

/** Such a URL as headers and HTML need it, whatever was set: in ASCII, its scheme and host in lower case, and without a trailing slash. */
export function baseUrl(text: string): string {
  return withoutTrailing(new URL(text).href, '/');
}

/** Accepts the URL of a host or port whose pages link to each other from the root. */
export function IsWebOrigin(): PropertyDecorator {
  return HasForm(
    'a URL that begins with https:// or http:// and has nothing after host and port, since the dashboard needs a host or port of its own',
    (text) => hasScheme(text, ['https', 'http']) && /^[^/]+:\/\/[^\s/?#@]+\/?$/.test(text),
  );
}

/** Accepts the URL of Redis. For anything else, its driver would throw an exception that does not name the setting. */
export function IsRedisUrl(): PropertyDecorator {
  const schemes = ['redis', 'rediss'];
  return HasForm(
    `a URL that begins with ${schemes.join(':// or ')}://, with user and password percent-encoded, and ends with the number of its database unless that is 0`,
    (text) => isServerUrl(text, schemes) && /^\/?\d*$/.test(new URL(text).pathname),
  );
}

function isServerUrl(text: string, schemes: readonly string[]): boolean {
  return hasScheme(text, schemes) && isDecodable(text) && !isTornApart(text);
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

/** Whether a `/` or `#` of a password ended the host: what begins the password was then read as the port, and an error about the host would show it. */
function isTornApart(url: string): boolean {
  const { pathname, hash } = new URL(url);
  return (pathname + hash).includes('@');
}

/** Accepts the URL of Postgres. Unlike libpq, our driver does not support lists of hosts and would treat one as a host name. */
export function IsPostgresUrl(): PropertyDecorator {
  const schemes = ['postgresql', 'postgres'];
  return HasForm(
    `a URL that begins with ${schemes.join(':// or ')}:// and has one host, which leads to the primary; user and password are percent-encoded`,
    (text) => isServerUrl(text, schemes) && !new URL(text).hostname.includes(','),
  );
}

/** Accepts one or several absolute URLs with a host and one of `schemes` (named without their colon), separated by white space. */
export function AreUrlsWithScheme(...schemes: string[]): PropertyDecorator {
  return HasForm(`URLs that begin with ${schemes.join(':// or ')}://, separated by spaces`, (text) =>
    urlsIn(text).every((url) => hasScheme(url, schemes)),
  );
}

/** The URLs of a text that {@link AreUrlsWithScheme} accepts, in their order: a URL has no space in it. */
export function urlsIn(text: string): string[] {
  return text.trim().split(/\s+/);
}

function hasScheme(text: string, schemes: readonly string[]): boolean {
  const url = URL.parse(text);
  return url !== null && url.hostname !== '' && schemes.includes(url.protocol.slice(0, -1));
}
