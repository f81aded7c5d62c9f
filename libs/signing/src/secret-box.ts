import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type EncryptionKey, KEY_ID, type KeyRing } from './key-ring.ts';

const ALGORITHM = 'aes-256-gcm';
/** The version of the sealed format, its first byte. */
const VERSION = 1;
/** The standard length of GCM; random nonces are safe for 2³² secrets per key (NIST SP 800-38D, section 8.3). */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A sealed secret could not be decrypted. The message reveals only the id of its key. */
export class SecretNotOpened extends Error {
  constructor(why: string) {
    super(`A stored secret cannot be decrypted: ${why}`);
    this.name = 'SecretNotOpened';
  }
}

/**
 * Encrypts and decrypts stored secrets (AES-256-GCM). A sealed secret begins with the id of its key, so that keys can be rotated, and is
 * bound to its row: copied to another one, it cannot be decrypted.
 *
 * Format: 1 byte version, 1 byte length of the key's id, the id, 12 bytes nonce, the ciphertext, 16 bytes tag.
 */
export class SecretBox {
  constructor(private readonly ring: KeyRing) {}

  /**
   * Encrypts with the first key of the ring.
   *
   * @param boundTo where it is stored, such as `webhook:<uuid>`; needed again to open it
   */
  seal(secret: string | Uint8Array, boundTo: string): Buffer {
    const [key] = this.ring;
    const head = headOf(key.id);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key.key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(additionalData(head, boundTo));
    const ciphertext = Buffer.concat([cipher.update(secret), cipher.final()]);
    return Buffer.concat([head, nonce, ciphertext, cipher.getAuthTag()]);
  }

  /**
   * Decrypts what was sealed with any key of the ring.
   *
   * @throws SecretNotOpened when its key is not in the ring, when it was changed, or when it is bound to something else
   */
  open(sealed: Uint8Array, boundTo: string): Buffer {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    const id = keyIdOf(bytes);
    const key = this.keyNamed(id);
    const head = headOf(id);
    const nonceEnd = head.length + NONCE_BYTES;
    const tagBegin = bytes.length - TAG_BYTES;
    if (tagBegin < nonceEnd) throw new SecretNotOpened('it is cut short');
    const nonce = bytes.subarray(head.length, nonceEnd);
    const decipher = createDecipheriv(ALGORITHM, key.key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(additionalData(head, boundTo));
    decipher.setAuthTag(bytes.subarray(tagBegin));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(nonceEnd, tagBegin)), decipher.final()]);
    } catch {
      throw new SecretNotOpened(`it was changed, moved, or sealed with another key named ${id}`);
    }
  }

  /** As {@link open}, but returns the error. */
  tryToOpen(sealed: Uint8Array, boundTo: string): Buffer | SecretNotOpened {
    try {
      return this.open(sealed, boundTo);
    } catch (error) {
      if (error instanceof SecretNotOpened) return error;
      throw error;
    }
  }

  /** The id of the first key. */
  get currentKeyId(): string {
    return this.ring[0].id;
  }

  /** The first bytes of secrets that are sealed with the first key; all others must be sealed again after a rotation. */
  get currentHead(): Buffer {
    return headOf(this.currentKeyId);
  }

  private keyNamed(id: string): EncryptionKey {
    const key = this.ring.find((each) => each.id === id);
    if (key === undefined) throw new SecretNotOpened(`the key ${id} is not in ENCRYPTION_KEYS`);
    return key;
  }
}

function headOf(keyId: string): Buffer {
  return Buffer.concat([Buffer.from([VERSION, keyId.length]), Buffer.from(keyId, 'latin1')]);
}

/** The head is authenticated too, so that the id of the key cannot be changed. */
function additionalData(head: Buffer, boundTo: string): Buffer {
  return Buffer.concat([head, Buffer.from(boundTo, 'utf8')]);
}

function keyIdOf(bytes: Buffer): string {
  if (bytes[0] !== VERSION) throw new SecretNotOpened('it has no form that this release knows');
  const id = bytes.subarray(2, 2 + (bytes[1] ?? 0)).toString('latin1');
  // A damaged id must not put control characters into the error.
  if (!KEY_ID.test(id)) throw new SecretNotOpened('the id of its key is damaged');
  return id;
}
