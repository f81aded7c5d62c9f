import { describe, expect, it } from '@jest/globals';
import { fingerprint } from './fingerprint.ts';

describe('S11: fingerprint', () => {
  it('is the SHA-256 of the text in UTF-8', () => {
    expect(fingerprint('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    expect(fingerprint('ü')).not.toEqual(fingerprint('u\u0308'));
  });
});
