import { describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { newId } from '@posthorn/kernel';
import { BounceAddresses } from './bounce-addresses.ts';
import type { KeyRing } from './key-ring.ts';

const [first, second] = [randomBytes(32), randomBytes(32)];
const ringOf = (...keys: Buffer[]): KeyRing =>
  keys.map((key, n) => ({ id: `key-${n}`, key })) as unknown as KeyRing;
const DOMAIN = 'bounces.example.com';
const addresses = new BounceAddresses(ringOf(first), DOMAIN);
const id = newId('trs', Date.now());
const address = addresses.addressFor(id);
/** Made with Python's hmac: emails that were sent still bounce when a later version runs. */
const KNOWN = {
  key: Buffer.alloc(32, 1),
  id: 'trs_01h455vb4pex5vsknk084sn02q',
  address: 'bounce+101h455vb4pex5vsknk084sn02q9xkh7qnu77h60mmavrrkkbumc@bounces.example.com',
};

describe('the bounce address of an email', () => {
  it('identifies its email, is deterministic, and its local part is at most 64 characters long', () => {
    expect(address).toMatch(/^bounce\+1[0-9a-z]{51}@bounces\.example\.com$/);
    expect(address.indexOf('@')).toBeLessThanOrEqual(64);
    expect(addresses.addressFor(id)).toBe(address);
    for (let n = 0; n < 1_000; n += 1) {
      const email = newId('trs', n);
      expect(addresses.emailOf(addresses.addressFor(email))).toBe(email);
    }
  });

  it('is recognised in any letter case', () => {
    expect(addresses.emailOf(address.toUpperCase())).toBe(id);
    expect(addresses.emailOf(address.replace('bounce', 'Bounce'))).toBe(id);
  });

  it('is valid with any key of the key ring, and with no other', () => {
    expect(new BounceAddresses(ringOf(second, first), DOMAIN).emailOf(address)).toBe(id);
    const others = new BounceAddresses(ringOf(second), DOMAIN);
    expect([others.emailOf(address), others.hasForm(address)]).toEqual([undefined, true]);
  });

  it('is valid if an earlier version made it', () => {
    expect(new BounceAddresses(ringOf(KNOWN.key), DOMAIN).emailOf(KNOWN.address)).toBe(KNOWN.id);
  });

  it('is invalid after a change of any of its characters', () => {
    for (let at = 0; at < address.length; at += 1) {
      const changed = address.slice(0, at) + (address[at] === '0' ? '1' : '0') + address.slice(at + 1);
      expect([at, addresses.emailOf(changed)]).toEqual([at, undefined]);
    }
  });

  it.each([
    '',
    '@',
    'bounce+@bounces.example.com',
    'postmaster@bounces.example.com',
    `bounce+${'1'.repeat(52)}@bounces.example.com`,
    `bounce+1${'z'.repeat(51)}@bounces.example.com`,
    `bounce+1${'é'.repeat(51)}@bounces.example.com`,
    `bounce+1${'K'.repeat(51)}@bounces.example.com`,
    `bounce+${'1'.repeat(100_000)}@bounces.example.com`,
  ])('is not %j', (text) => {
    expect(addresses.emailOf(text)).toBeUndefined();
  });

  it('is invalid at another domain or without one', () => {
    expect(addresses.emailOf(address.replace('@bounces', '@b'))).toBeUndefined();
    expect(addresses.emailOf(address.slice(0, address.indexOf('@')))).toBeUndefined();
    expect(addresses.emailOf(`${address}.`)).toBeUndefined();
    expect(addresses.hasForm(`${address}.`)).toBe(false);
  });
});
