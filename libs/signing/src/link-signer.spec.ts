import { describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import type { KeyRing } from './key-ring.ts';
import { LinkSigner } from './link-signer.ts';

const [first, second] = [randomBytes(32), randomBytes(32)];
const ringOf = (...keys: Buffer[]): KeyRing =>
  keys.map((key, n) => ({ id: `key-${n}`, key })) as unknown as KeyRing;
const UUID = '01931f3b-1c9f-7c3e-9b2a-0123456789ab';
const HOST = 'links.shop.example';
const signer = new LinkSigner(ringOf(first));

/** Made with Python's hmac: links in emails that were sent must stay valid in all later versions. */
const KNOWN = {
  key: Buffer.alloc(32, 1),
  unsubscribe: 'phu_AbswQckBkx87HJ98PpsqASNFZ4mr7OkEGIOVackdERCIOFBztQ',
  open: 'pho_AbswQckBkx87HJ98PpsqASNFZ4mrLaZzsbKn9xslAFFRl-3Oww',
  click: 'phc_AbswQckBkx87HJ98PpsqASNFZ4mrOktjxK-hw0G-1xaBVwYjwmh0dHBzOi8vZXhhbXBsZS5jb20vw7w',
  clickAtHost:
    'phc_ArswQckBkx87HJ98PpsqASNFZ4mr3OMwiKX8nuC63htWTKzMiPOCe9-OYC3uaHR0cHM6Ly9leGFtcGxlLmNvbS_DvA',
};

describe('S20: a signed link', () => {
  it('contains the id that it was signed for, is short, and is deterministic', () => {
    const token = signer.sign('unsubscribe', UUID);
    expect(token).toMatch(/^phu_[A-Za-z0-9_-]{50}$/);
    expect(signer.sign('unsubscribe', UUID)).toBe(token);
    expect(signer.verify('unsubscribe', token)).toBe(UUID);
  });

  it('is valid with any key of the key ring, and with no other', () => {
    const old = signer.sign('unsubscribe', UUID);
    const rotated = new LinkSigner(ringOf(second, first));
    expect(rotated.sign('unsubscribe', UUID)).not.toBe(old);
    expect(rotated.verify('unsubscribe', old)).toBe(UUID);
    expect(new LinkSigner(ringOf(second)).verify('unsubscribe', old)).toBeUndefined();
  });

  it('is invalid after a change of any of its characters, and cut off at any of them', () => {
    const token = signer.sign('unsubscribe', UUID);
    for (let at = 0; at < token.length; at += 1) {
      const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
      expect([at, signer.verify('unsubscribe', changed)]).toEqual([at, undefined]);
      expect([at, signer.verify('unsubscribe', token.slice(0, at))]).toEqual([at, undefined]);
    }
  });

  it('is valid if an earlier version made it', () => {
    const known = new LinkSigner(ringOf(KNOWN.key));
    expect(known.verify('unsubscribe', KNOWN.unsubscribe)).toBe(UUID);
    expect(known.verify('open', KNOWN.open)).toBe(UUID);
    const link = { uuid: UUID, url: 'https://example.com/ü' };
    expect(known.verifyTarget(KNOWN.click)).toEqual({ ...link, namesHost: false });
    expect(known.verifyTarget(KNOWN.clickAtHost, HOST)).toEqual({ ...link, namesHost: true });
  });

  it.each([
    '',
    'phu_',
    'phu_A',
    `phu_${'A'.repeat(50)}`,
    `phu_${'A'.repeat(100_000)}`,
    `phu_${'é'.repeat(50)}`,
  ])('is not %j', (text) => {
    expect(signer.verify('unsubscribe', text)).toBeUndefined();
  });

  it('is invalid in another base64url encoding of the same bytes', () => {
    const token = signer.sign('unsubscribe', UUID);
    expect(signer.verify('unsubscribe', `${token}=`)).toBeUndefined();
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet[alphabet.indexOf(token.at(-1)!) ^ 1]!;
    expect(signer.verify('unsubscribe', token.slice(0, -1) + last)).toBeUndefined();
  });
});

describe.each([
  ['that names no host', undefined],
  ['that names a host', HOST],
])('S17: a signed link with a target, %s', (_which, host) => {
  const url = 'https://example.com/shop?a=1&b=%C3%BC#top';
  const token = signer.signTarget({ uuid: UUID, url }, host)!;

  it('contains its target and the id of its email, and is deterministic', () => {
    expect(token).toMatch(/^phc_[A-Za-z0-9_-]+$/);
    expect(signer.verifyTarget(token)).toEqual({ uuid: UUID, url, namesHost: false });
    expect(signer.signTarget({ uuid: UUID, url }, host)).toBe(token);
  });

  it('is valid at any host, and tells whether it names it, also with an older key', () => {
    const rotated = new LinkSigner(ringOf(second, first));
    for (const at of [HOST, 'links.bank.example', `x${HOST}`, '', undefined]) {
      const followed = { uuid: UUID, url, namesHost: at !== undefined && at === host };
      expect(signer.verifyTarget(token, at)).toEqual(followed);
      expect(rotated.verifyTarget(token, at)).toEqual(followed);
    }
  });

  it('is invalid after a change, an addition or a removal of any character', () => {
    for (let at = 0; at < token.length; at += 1) {
      const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
      expect([at, signer.verifyTarget(changed, host)]).toEqual([at, undefined]);
    }
    for (const changed of [`${token}A`, token.slice(0, -1), `${token}${'A'.repeat(100_000)}`, 'phc_', ''])
      expect(signer.verifyTarget(changed, host)).toBeUndefined();
  });

  it('is invalid with a key that is not in the ring, and for a token of another purpose', () => {
    expect(new LinkSigner(ringOf(second)).verifyTarget(token, host)).toBeUndefined();
    expect(signer.verifyTarget(signer.sign('open', UUID).replace('pho_', 'phc_'), host)).toBeUndefined();
    expect(signer.verify('open', token.replace('phc_', 'pho_'))).toBeUndefined();
    expect(signer.verify('open', signer.sign('unsubscribe', UUID).replace('phu_', 'pho_'))).toBeUndefined();
  });

  it('is not made for a target that is too long', () => {
    const long = `https://example.com/${'x'.repeat(1_380)}`;
    expect(signer.verifyTarget(signer.signTarget({ uuid: UUID, url: long }, host)!)).toMatchObject({
      url: long,
    });
    expect(signer.signTarget({ uuid: UUID, url: `${long}x` }, host)).toBeUndefined();
  });
});
