import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  abbreviate,
  hashIfSecret,
  hashSecret,
  isWellFormedSecret,
  newApiKeySecret,
  newSecret,
} from './api-key.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Made with Python's zlib: keys that were issued must stay valid in all later versions. */
const KNOWN = 'phk_0123456789ABCDEFGHIJabcdefghij012JqMhe';

describe('K1: the secret of an API key', () => {
  it('is well formed, and different each time', () => {
    const secrets = Array.from({ length: 1_000 }, newApiKeySecret);
    expect(secrets.every(isWellFormedSecret)).toBe(true);
    expect(secrets.every((secret) => /^phk_[0-9A-Za-z]{38}$/.test(secret))).toBe(true);
    expect(new Set(secrets).size).toBe(secrets.length);
  });

  it('contains every character of its alphabet equally often', () => {
    const counts = new Map<string, number>();
    for (let round = 0; round < 5_000; round += 1) {
      for (const letter of newApiKeySecret().slice(4, 36)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    const expected = (5_000 * 32) / 62;
    for (const letter of ALPHABET)
      expect(Math.abs((counts.get(letter) ?? 0) - expected)).toBeLessThan(expected * 0.15);
  });

  it('is not well formed after any change of one character', () => {
    const letter = fc.integer({ min: 4, max: 41 });
    fc.assert(
      fc.property(letter, fc.constantFrom(...ALPHABET), (index, other) => {
        const secret = newApiKeySecret();
        const mistyped = secret.slice(0, index) + other + secret.slice(index + 1);
        expect(isWellFormedSecret(mistyped)).toBe(mistyped === secret);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(['', 'phk_', 'phk_abc', 'PHK_', ' ', 'sk_live_123', '\0', 'x'.repeat(100_000)])(
    'is not %j',
    (text) => {
      expect(isWellFormedSecret(text)).toBe(false);
    },
  );

  it.each([
    (secret: string) => ` ${secret}`,
    (secret: string) => `${secret}\n`,
    (secret: string) => `${secret}0`,
    (secret: string) => secret.slice(0, -1),
    (secret: string) => secret.replace('phk_', 'phx_'),
    (secret: string) => `Bearer ${secret}`,
  ])('is not well formed with characters added, missing or replaced (%#)', (damage) => {
    expect(isWellFormedSecret(damage(newApiKeySecret()))).toBe(false);
  });

  it('is stored as its SHA-256, and shown abbreviated to its first and last characters', () => {
    expect(hashSecret('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    expect(abbreviate('phk_0123456789')).toBe('phk_0123...6789');
  });

  it('has the checksum that issued keys have', () => {
    expect(isWellFormedSecret(KNOWN)).toBe(true);
  });
});

describe('A secret with another prefix', () => {
  it('has the same format, but is not a valid API key', () => {
    const secret = newSecret('phi_');
    expect(secret).toMatch(/^phi_[0-9A-Za-z]{38}$/);
    expect(isWellFormedSecret(secret)).toBe(false);
    expect(hashIfSecret('phi_', secret)).toEqual(hashSecret(secret));
    expect(hashIfSecret('phi_', newApiKeySecret())).toBeUndefined();
  });
});
