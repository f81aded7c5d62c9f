import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { newDkimKeyPair } from './dkim-keys.ts';

const TEXT = Buffer.from('an email');

describe('A pair of DKIM keys', () => {
  it('of RSA has 2048 bits, and its public key verifies signatures of its private key', async () => {
    const { algorithm, publicKey, privateKey } = await newDkimKeyPair('rsa');
    const secret = createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' });
    const open = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });

    expect(algorithm).toBe('rsa');
    expect(open.asymmetricKeyDetails).toMatchObject({ modulusLength: 2048, publicExponent: 65_537n });
    expect(verify('sha256', TEXT, open, sign('sha256', TEXT, secret))).toBe(true);
  });

  it('of Ed25519 is published as its raw 32 bytes', async () => {
    const { publicKey, privateKey } = await newDkimKeyPair('ed25519');
    const secret = createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' });
    const bytes = Buffer.from(publicKey, 'base64');
    const x = bytes.toString('base64url');
    const open = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });

    expect(bytes).toHaveLength(32);
    expect(verify(null, TEXT, open, sign(null, TEXT, secret))).toBe(true);
  });

  it('is different each time', async () => {
    const [one, other] = await Promise.all([newDkimKeyPair('ed25519'), newDkimKeyPair('ed25519')]);
    expect(one.publicKey).not.toBe(other.publicKey);
  });
});
