interface Thrown {
  readonly code?: unknown;
  readonly message?: string;
  readonly severity?: string;
  readonly syscall?: string;
}

/** By what the driver, Node or Postgres says before a connection is usable; most of it has no SQLSTATE, or one that means something else in a statement. */
const REFUSALS: readonly (readonly [is: (thrown: Thrown) => boolean, sentence: string])[] = [
  [
    ({ message = '' }) => message.startsWith('The server does not support SSL'),
    'Postgres speaks no TLS there, and DATABASE_URL asks for it: turn ssl on in Postgres, or, in a network that you trust, write sslmode=disable',
  ],
  // https://nodejs.org/api/tls.html#x509-certificate-error-codes
  [
    ({ code }) => code === 'CERT_HAS_EXPIRED',
    'The certificate of Postgres, or the one that it was issued by, has expired: renew it',
  ],
  [
    ({ code }) => code === 'ERR_TLS_CERT_ALTNAME_INVALID',
    'The certificate of Postgres is for another host: write one of its names as the host in DATABASE_URL',
  ],
  [
    ({ code }) => /CERT|LEAF_SIGNATURE|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH/.test(String(code)),
    'The certificate of Postgres is not trusted: let sslrootcert in DATABASE_URL name a file with the one that it was issued by',
  ],
  [
    ({ code, syscall }) =>
      /^(?:ENOENT|EACCES|EISDIR|ERR_OSSL_PEM_\w+)$/.test(String(code)) && syscall !== 'connect',
    'A file that DATABASE_URL names (sslrootcert, sslcert, sslkey) cannot be read: correct its path, its permissions or what it holds',
  ],
  [
    ({ message = '' }) => /^SASL: .*password must be/.test(message),
    'Postgres asks for a password: write one in DATABASE_URL',
  ],
  [
    ({ message = '' }) => message.startsWith('no pg_hba.conf entry'),
    'No line of pg_hba.conf lets this connection in: add one, or correct the user and the database in DATABASE_URL; a hostssl line needs sslmode=verify-full there',
  ],
  [
    ({ severity, code }) => severity === 'FATAL' && /^(?:22|42)/.test(String(code)),
    'Postgres does not take the options in DATABASE_URL: correct them',
  ],
];

/** What an operator has to change before any connection can be opened; undefined for every other error. */
export function refusedConnection(error: unknown): string | undefined {
  const thrown = (error ?? {}) as Thrown;
  return REFUSALS.find(([is]) => is(thrown))?.[1];
}
