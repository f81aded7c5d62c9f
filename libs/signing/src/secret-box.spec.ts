import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type KeyRing, parseKeyRing } from './key-ring.ts';
import { SecretBox, SecretNotOpened } from './secret-box.ts';

const OLD = `2025:${Buffer.alloc(32, 1).toString('base64')}`;
const NEW = `2026:${Buffer.alloc(32, 2).toString('base64')}`;
const PLACE = 'webhook:0190a6ac-0000-7000-8000-000000000001';
/** Made with Python's cryptography: stored secrets must stay readable in all later versions. */
const KNOWN = Buffer.from(
  '010432303235090909090909090909090909ac6a4ba2a1008e8efd03fbd8a674f676e018b59c08',
  'hex',
);

function ringOf(text: string): KeyRing {
  const parsed = parseKeyRing(text);
  if ('fault' in parsed) throw new Error(parsed.fault);
  return parsed.ring;
}
const boxOf = (text: string): SecretBox => new SecretBox(ringOf(text));

describe('SecretBox', () => {
  it('decrypts what it encrypted, for any bytes', () => {
    const box = boxOf(OLD);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4_096 }), fc.string(), (secret, place) => {
        expect(box.open(box.seal(secret, place), place)).toEqual(Buffer.from(secret));
      }),
    );
  });

  it('encrypts the same secret differently each time, without revealing it', () => {
    const box = boxOf(OLD);
    const sealed = Array.from({ length: 100 }, () => box.seal('wht_secret', PLACE));
    expect(new Set(sealed.map((bytes) => bytes.toString('hex'))).size).toBe(100);
    for (const bytes of sealed) expect(bytes.toString('latin1')).not.toContain('wht_');
  });

  it('encrypts with the first key of the ring, and decrypts with any', () => {
    const before = boxOf(OLD).seal('kept', PLACE);
    const rotating = boxOf(`${NEW},${OLD}`);
    expect(rotating.open(before, PLACE).toString()).toBe('kept');
    expect(before.subarray(0, rotating.currentHead.length)).not.toEqual(rotating.currentHead);
    const after = rotating.seal(rotating.open(before, PLACE), PLACE);
    expect(after.subarray(0, rotating.currentHead.length)).toEqual(rotating.currentHead);
    expect(boxOf(NEW).open(after, PLACE).toString()).toBe('kept');
  });

  it('names the key that is missing', () => {
    expect(() => boxOf(NEW).open(boxOf(OLD).seal('x', PLACE), PLACE)).toThrow(
      'the key 2025 is not in ENCRYPTION_KEYS',
    );
  });

  it('does not decrypt in another context', () => {
    const box = boxOf(OLD);
    expect(() => box.open(box.seal('x', PLACE), `${PLACE}2`)).toThrow(SecretNotOpened);
  });

  it('does not decrypt with another key of the same name', () => {
    const other = `2025:${Buffer.alloc(32, 3).toString('base64')}`;
    expect(() => boxOf(other).open(boxOf(OLD).seal('x', PLACE), PLACE)).toThrow(SecretNotOpened);
  });

  it('does not decrypt after a change of any byte, nor when truncated or extended', () => {
    const box = boxOf(`${OLD},${NEW}`);
    const sealed = box.seal('a secret', PLACE);
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed);
      changed[index]! ^= 1;
      expect(() => box.open(changed, PLACE)).toThrow(SecretNotOpened);
      expect(() => box.open(sealed.subarray(0, index), PLACE)).toThrow(SecretNotOpened);
    }
    expect(() => box.open(Buffer.concat([sealed, Buffer.of(0)]), PLACE)).toThrow(SecretNotOpened);
  });

  it('does not repeat a damaged id of a key in its error: it could have control characters', () => {
    const sealed = boxOf(OLD).seal('x', PLACE);
    sealed[2] = 0x1b;
    expect(() => boxOf(OLD).open(sealed, PLACE)).toThrow('the id of its key is damaged');
  });

  it('decrypts a value that another implementation made', () => {
    expect(boxOf(OLD).open(KNOWN, PLACE).toString()).toBe('hello');
  });
});

describe('parseKeyRing', () => {
  it('takes several keys, the first one first, with spaces around the commas', () => {
    expect(ringOf(`${NEW} , ${OLD}`).map(({ id }) => id)).toEqual(['2026', '2025']);
  });

  it.each([
    ['', 'key 1 has no id'],
    [NEW.slice(5), 'key 1 has no id'],
    [`${NEW},`, 'key 2 has no id'],
    [NEW.replace('2026', 'two words'), 'key 1 has no id'],
    [NEW.replace('2026', 'x'.repeat(33)), 'key 1 has no id'],
    [NEW.slice(0, -1), 'key 1 is not base64'],
    [NEW.replace('AgIC', 'Ag*C'), 'key 1 is not base64'],
    [`2026:${Buffer.alloc(16, 1).toString('base64')}`, 'key 1 has 16 bytes; it must have 32'],
    [`${NEW},${OLD.replace('2025', '2026')}`, 'key 2 has the id or the bytes of another one'],
    [`${NEW},${NEW.replace('2026', '2027')}`, 'key 2 has the id or the bytes of another one'],
  ])('refuses %j: %s', (text, fault) => {
    const parsed = parseKeyRing(text);
    expect('fault' in parsed && parsed.fault).toContain(fault);
  });

  it('does not reveal keys in its errors', () => {
    const parsed = parseKeyRing(`2026:${'S3CRET'.repeat(9)}`);
    expect(JSON.stringify(parsed)).not.toContain('S3CRET');
  });
});
