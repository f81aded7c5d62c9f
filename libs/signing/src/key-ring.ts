import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** AES-256 takes keys of this length. */
const KEY_BYTES = 32;
export const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;

/** A key that encrypts secrets at rest, and its id, which is stored with them. */
export interface EncryptionKey {
  readonly id: string;
  /** Of 32 bytes. Not the bytes themselves: no log line shows them, and Node is quicker with it (an HMAC 4 µs instead of 27). */
  readonly key: KeyObject;
}

/** The keys of an installation: the first encrypts, all of them decrypt. */
export type KeyRing = readonly [EncryptionKey, ...EncryptionKey[]];

/** How a key ring is written, in words. */
export const KEY_RING_FORM =
  'one or more keys, each an id of 1 to 32 letters, digits, `_` or `-`, a colon and 32 bytes in base64, separated by commas';

/**
 * Reads a key ring: `id:base64(32 bytes)`, several separated by commas, the one that encrypts first.
 *
 * @returns the ring, or what is wrong with the text in words that hold nothing of a key
 */
export function parseKeyRing(text: string): { readonly ring: KeyRing } | { readonly fault: string } {
  const keys: EncryptionKey[] = [];
  for (const [index, part] of text.split(',').entries()) {
    const parsed = parseKey(part.trim());
    if ('fault' in parsed) return { fault: `key ${index + 1} ${parsed.fault}` };
    const same = keys.find((key) => key.id === parsed.id || key.key.equals(parsed.key));
    if (same !== undefined)
      return { fault: `key ${index + 1} has the id or the bytes of another one; give it its own` };
    keys.push(parsed);
  }
  return { ring: keys as unknown as KeyRing };
}

function parseKey(text: string): EncryptionKey | { readonly fault: string } {
  const colon = text.indexOf(':');
  const id = text.slice(0, Math.max(colon, 0));
  if (!KEY_ID.test(id)) return { fault: 'has no id of 1 to 32 letters, digits, `_` or `-` before a colon' };
  const encoded = text.slice(colon + 1);
  const key = Buffer.from(encoded, 'base64');
  // Node ignores invalid base64, so a mistyped key would become another key.
  if (key.toString('base64') !== encoded) return { fault: 'is not base64 with its padding after the colon' };
  if (key.length !== KEY_BYTES) return { fault: `has ${key.length} bytes; it must have ${KEY_BYTES}` };
  return { id, key: createSecretKey(key) };
}

/** Derives a key for a purpose other than encryption from one of the ring (HKDF, RFC 5869); deterministic. */
export function derivedKey({ key }: EncryptionKey, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `posthorn: ${purpose}`, KEY_BYTES)));
}
