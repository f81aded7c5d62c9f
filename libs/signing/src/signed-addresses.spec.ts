import { describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { newId } from '@posthorn/kernel';
import { SignedAddresses } from './signed-addresses.ts';
import type { KeyRing } from './key-ring.ts';

const [first, second] = [randomBytes(32), randomBytes(32)];
const ringOf = (...keys: Buffer[]): KeyRing =>
  keys.map((key, n) => ({ id: `key-${n}`, key })) as unknown as KeyRing;
const DOMAIN = 'bounces.example.com';
const addresses = new SignedAddresses(ringOf(first), 'bounce', DOMAIN);
const id = newId('trs', Date.now());
const address = addresses.addressFor(id);
/** Made with Python's hmac: emails that were sent still bounce when a later version runs. */
const KNOWN = {
  key: Buffer.alloc(32, 1),
  id: 'trs_01h455vb4pex5vsknk084sn02q',
  address: 'bounce+101h455vb4pex5vsknk084sn02q9xkh7qnu77h60mmavrrkkbumc@bounces.example.com',
  unsubscribeAddress: 'unsub-101h455vb4pex5vsknk084sn02q4d4ps4s66cleldsmwnwm1yhde@bounces.example.com',
};

describe.each([
  ['bounce', /^bounce\+1[0-9a-z]{51}@bounces\.example\.com$/],
  ['unsubscribe', /^unsub-1[0-9a-z]{51}@bounces\.example\.com$/],
] as const)('the %s address of an email', (purpose, form) => {
  const ofPurpose = new SignedAddresses(ringOf(first), purpose, DOMAIN);

  it('identifies its email, is deterministic, and its local part is at most 64 characters long', () => {
    const one = ofPurpose.addressFor(id);
    expect(one).toMatch(form);
    expect(one.indexOf('@')).toBeLessThanOrEqual(64);
    expect(ofPurpose.addressFor(id)).toBe(one);
    for (let n = 0; n < 1_000; n += 1) {
      const email = newId('trs', n);
      expect(ofPurpose.emailOf(ofPurpose.addressFor(email))).toBe(email);
    }
  });
});

describe('the address by which a recipient unsubscribes', () => {
  const unsubscribing = new SignedAddresses(ringOf(first), 'unsubscribe', DOMAIN);

  it('is valid if an earlier version made it', () => {
    const ofKnownKey = new SignedAddresses(ringOf(KNOWN.key), 'unsubscribe', DOMAIN);
    expect(ofKnownKey.emailOf(KNOWN.unsubscribeAddress)).toBe(KNOWN.id);
  });

  it('cannot be made from the return path, nor the return path from it', () => {
    const asUnsubscribing = address.replace('bounce+', 'unsub-');
    expect([unsubscribing.emailOf(asUnsubscribing), unsubscribing.hasForm(asUnsubscribing)]).toEqual([
      undefined,
      true,
    ]);
    const asBounce = unsubscribing.addressFor(id).replace('unsub-', 'bounce+');
    expect([addresses.emailOf(asBounce), addresses.hasForm(asBounce)]).toEqual([undefined, true]);
    expect(addresses.hasForm(unsubscribing.addressFor(id))).toBe(false);
  });
});

describe('the bounce address of an email', () => {
  it('is recognised in any letter case', () => {
    expect(addresses.emailOf(address.toUpperCase())).toBe(id);
    expect(addresses.emailOf(address.replace('bounce', 'Bounce'))).toBe(id);
  });

  it('is valid with any key of the key ring, and with no other', () => {
    expect(new SignedAddresses(ringOf(second, first), 'bounce', DOMAIN).emailOf(address)).toBe(id);
    const others = new SignedAddresses(ringOf(second), 'bounce', DOMAIN);
    expect([others.emailOf(address), others.hasForm(address)]).toEqual([undefined, true]);
  });

  it('is valid if an earlier version made it', () => {
    expect(new SignedAddresses(ringOf(KNOWN.key), 'bounce', DOMAIN).emailOf(KNOWN.address)).toBe(KNOWN.id);
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
