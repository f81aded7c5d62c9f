import { expect, it } from '@jest/globals';
import { DatabaseUnusable } from './unusable.ts';

it.each([
  ['25006', 'this Postgres is a standby', /^Postgres accepts no writes: .* \(this Postgres is a standby\)$/],
  ['ECONNREFUSED', 'connect ECONNREFUSED', /^No database answers: /],
  [undefined, 'The server does not support SSL connections', /^Postgres speaks no TLS .* sslmode=disable/],
  [
    'CERT_HAS_EXPIRED',
    'certificate has expired',
    /^The certificate of Postgres, .* has expired: renew it \(certificate has expired\)$/,
  ],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'Host: a. is not in the cert’s altnames: DNS:b',
    /^The certificate of Postgres is for another host: .* DATABASE_URL \(.*DNS:b\)$/,
  ],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'unable to verify the first certificate',
    /^The certificate of Postgres is not trusted: .* sslrootcert/,
  ],
  ['ERR_OSSL_PEM_NO_START_LINE', 'no start line', /^A file that DATABASE_URL names/],
  [
    undefined,
    'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string',
    /^Postgres asks for a password/,
  ],
  ['28000', 'no pg_hba.conf entry for host "1.2.3.4", user "a"', /^No line of pg_hba.conf/],
])('the advice for operators about %s', (code, message, told) => {
  expect(DatabaseUnusable.because(Object.assign(new Error(message), { code }))).toMatchObject({
    message: expect.stringMatching(told),
  });
});
