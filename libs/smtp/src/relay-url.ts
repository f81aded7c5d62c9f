import { isIPv6 } from 'node:net';
import { CannotStart } from '@posthorn/kernel';

/** Others could never be looked up: `URL` percent-encodes an international name of these schemes, and takes several with commas for one. */
const HOST = /^(?:[A-Za-z0-9._-]+|\[.+\])$/;

/** Where the relay is and who we are to it. */
export interface RelayAddress {
  readonly host: string;
  /** In the range 1–65535; 587 for `smtp`, 465 for `smtps` unless the URL names one (RFC 8314, section 3.3). */
  readonly port: number;
  /** TLS from the first byte, instead of by STARTTLS. */
  readonly implicitTls: boolean;
  /** Without a password, we log in with access tokens. */
  readonly credentials?: { readonly user: string; readonly password?: string };
}

/** The name of a relay for operators, in logs and metrics: `host:port`. */
export function relayName({ host, port }: Pick<RelayAddress, 'host' | 'port'>): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** Whether we log in with access tokens. */
export function isTokenLogin({ credentials }: RelayAddress): boolean {
  return credentials !== undefined && credentials.password === undefined;
}

/** Errors do not contain the URL, because it contains a password. */
function fault(what: string): CannotStart {
  return new CannotStart(
    `SMTP_URL ${what}; expected smtp[s]://[user[:password]@]host[:port], with user and password percent-encoded`,
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw fault('has a user or password that is not percent-encoded');
  }
}

/**
 * Reads one URL of an `SMTP_URL`.
 *
 * @throws with a sentence for the operator, that never repeats the URL
 */
export function parseRelayUrl(text: string): RelayAddress {
  const url = URL.parse(text);
  if (url === null) throw fault('is not a URL');
  if (url.protocol !== 'smtp:' && url.protocol !== 'smtps:') throw fault('is neither smtp:// nor smtps://');
  if (url.hostname === '') throw fault('names no host');
  if (!HOST.test(url.hostname)) throw fault('names a host that is neither a name in ASCII nor an address');
  if (url.port === '0') throw fault('names port 0, at which no server listens');
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') {
    throw fault('has something after the host');
  }
  if (url.username === '' && url.password !== '') throw fault('names a password without a user');
  const implicitTls = url.protocol === 'smtps:';
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (implicitTls ? 465 : 587) : Number(url.port),
    implicitTls,
    ...credentialsIn(url),
  };
}

function credentialsIn({ username, password }: URL): Pick<RelayAddress, 'credentials'> {
  if (username === '') return {};
  const user = decode(username);
  return { credentials: password === '' ? { user } : { user, password: decode(password) } };
}
