import { describe, expect, it } from '@jest/globals';
import { dkimRecord, faultInDkimRecord, isMeantAsDkim, isTesting, type PublishedKey } from './dkim-record.ts';

/** Made with OpenSSL 3. */
const SPKI =
  'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAufvHUHsQ1bcFcxMtkMyb6kwdHBaQhwhh9/8TBwZXm5j1XaxKkjcaKAm+/67btgvL/Iu5H0sTgMzmFQGqAfuBYcnkEUM4NEBVEIjKeEKqXhIFvTZXTg5YKFLW0GKnXz55BpDQNcDVkmMh9hEyhnFOyBSVgrs2ZzIwoDcEw1LcTzBrCkRQeAaBPwq4+ATBeVtyVvoyi/T4vG9iJA7fUKjF0YG/b1RHJ4u3UBkU6jPnUlGXw2JlDJLkwhnMOKUr+8RnE2RSTgNPDHyiAB9dl4LiAw6g2bUy3X1B8Oe0fBX2SI0DFFOTJTJLs3fSfbMAUQz3zdFTvYpZ9ZOSeS1BzlT50QIDAQAB';
const RSA: PublishedKey = { algorithm: 'rsa', publicKey: SPKI };
/** RFC 8463, appendix A.2. */
const ED25519: PublishedKey = {
  algorithm: 'ed25519',
  publicKey: '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
};
const BARE = Buffer.from(SPKI, 'base64').subarray(24).toString('base64');
const P = ED25519.publicKey;

describe('A DKIM record', () => {
  it.each([RSA, ED25519])('with the value that we generate publishes its key (%#)', (key) => {
    expect(faultInDkimRecord(dkimRecord(key), key)).toBeUndefined();
  });

  it('is that of RFC 8463, appendix A.2', () => {
    expect(dkimRecord(ED25519)).toBe('v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=');
  });

  it.each([
    ['no spaces', `v=DKIM1;k=ed25519;p=${P}`],
    ['spaces everywhere', `  v = DKIM1 ;  k =\ted25519 ;  p = ${P}  ; `],
    ['another order after the version', `v=DKIM1; p=${P}; k=ed25519`],
    ['no version', `k=ed25519; p=${P}`],
    ['another case of a value', `v=DKIM1; k=ED25519; p=${P}`],
    ['spaces inside the key', `v=DKIM1; k=ed25519; p=${P.slice(0, 10)} ${P.slice(10, 20)}\t${P.slice(20)}`],
    ['a key without its padding', `v=DKIM1; k=ed25519; p=${P.replace('=', '')}`],
    ['a semicolon at the end', `v=DKIM1; k=ed25519; p=${P};`],
    ['tags that nobody knows', `v=DKIM1; k=ed25519; x=1; p=${P}; n=a note; g=*`],
    ['its hashes and services named', `v=DKIM1; h=sha1 : SHA256; s=chat:email; k=ed25519; t=s; p=${P}`],
    ['every service', `v=DKIM1; s=*; k=ed25519; p=${P}`],
  ])('may have %s', (_case, record) => {
    expect(faultInDkimRecord(record, ED25519)).toBeUndefined();
  });

  it('may contain the bare RSA key, and no `k`, which defaults to RSA', () => {
    expect(faultInDkimRecord(`v=DKIM1; p=${BARE}`, RSA)).toBeUndefined();
    expect(faultInDkimRecord(`p=${SPKI}`, RSA)).toBeUndefined();
  });

  it.each([
    ['', 'has no `p`'],
    ['v=DKIM1; k=ed25519', 'has no `p`'],
    ['v=DKIM1; k=ed25519; p=', 'is revoked'],
    [`v=DKIM2; k=ed25519; p=${P}`, 'begins with `v=DKIM2`; it must be `v=DKIM1`'],
    [`v=dkim1; k=ed25519; p=${P}`, 'it must be `v=DKIM1`'],
    [`k=ed25519; v=DKIM1; p=${P}`, 'does not begin with `v=DKIM1`'],
    [`v=DKIM1; p=${P}`, 'has `k=rsa`; it must be `k=ed25519`'],
    [`v=DKIM1; k=ed25519; P=${P}`, 'has no `p`'],
    [`v=DKIM1; k=ed25519; p=${P.replace('11q', '22q')}`, 'publishes another key'],
    [`v=DKIM1; k=ed25519; p=${P.replace('11q', '11*q')}`, 'publishes another key'],
    [`v=DKIM1; k=ed25519; p=${P.slice(0, 20)}`, 'cut short'],
    [`v=DKIM1; k=ed25519; p=${P}; p=${P}`, 'each name once'],
    [`v=DKIM1 k=ed25519 p=${P}`, 'has no `p`'],
    [`"v=DKIM1; k=ed25519; p=${P}"`, 'quotation marks'],
    [`v=DKIM1\\; k=ed25519\\; p=${P}`, 'backslashes'],
    [`v=DKIM1; k=ed25519; p=${P.slice(0, 20)}" "${P.slice(20)}`, 'quotation marks'],
    [`v=DKIM1;\u00c2\u00a0k=ed25519;\u00c2\u00a0p=${P}`, 'perhaps invisible ones'],
    [`v=DKIM1; just words; p=${P}`, 'is not a list'],
    [`k=ed25519\\;; words\\; p`, 'backslashes'],
    [`v=DKIM1; k=ed25519; h=sha1; p=${P}`, 'without `sha256`'],
    [`v=DKIM1; k=ed25519; s=chat; p=${P}`, 'is not for email'],
    ['google-site-verification=abc', 'is not a list'],
  ])('%j: %s', (record, fault) => {
    expect(faultInDkimRecord(record, ED25519)).toContain(fault);
  });

  it('may have in a note what is a mistake elsewhere', () => {
    expect(faultInDkimRecord(`v=DKIM1; n=of \u00c2 "us"\\; k=ed25519; p=${P}`, ED25519)).toBeUndefined();
  });

  it.each([
    [`v=DKIM1; p=`, true],
    [`"v=DKIM1\\; k=ed25519`, true],
    [`p=${SPKI}`, true],
    [SPKI, true],
    ['v=spf1 -all', false],
    ['v=DMARC1; p=quarantine', false],
    ['google-site-verification=abc', false],
  ])('%j is meant as one: %s', (record, isMeant) => {
    expect(isMeantAsDkim(record)).toBe(isMeant);
  });

  it('can be for tests only', () => {
    expect(isTesting(`v=DKIM1; t=y:s; k=ed25519; p=${P}`)).toBe(true);
    expect(isTesting(`v=DKIM1; t=s; k=ed25519; p=${P}`)).toBe(false);
    expect(isTesting('nothing of the kind')).toBe(false);
  });
});
