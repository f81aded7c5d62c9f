import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { BASE62, randomBase62 } from './random-text.ts';
import { SECRET_PREFIXES, type SecretPrefix } from './secret-prefixes.ts';

const RANDOM_CHARACTERS = 32;
const CHECKSUM_CHARACTERS = 6;
const WELL_FORMED = /^[0-9A-Za-z]{38}$/;

/**
 * A new secret of an API key: `phk_`, 32 random characters of base 62 (190 bits) and 6 of checksum (CRC-32), so that a
 * scanner finds one that leaked and one that is mistyped is refused without a look-up.
 */
export function newApiKeySecret(): string {
  return newSecret(SECRET_PREFIXES.apiKey);
}

/** A new secret of the form of an API key's, with another prefix. */
export function newSecret(prefix: SecretPrefix): string {
  const unchecked = prefix + randomBase62(RANDOM_CHARACTERS);
  return unchecked + checksumOf(unchecked);
}

/** Whether `text` is a well-formed secret: prefix, length, alphabet and checksum. */
export function isWellFormedSecret(text: string): boolean {
  return hasSecretForm(SECRET_PREFIXES.apiKey, text);
}

/** Whether `text` could come from {@link newSecret} with this prefix. */
function hasSecretForm(prefix: SecretPrefix, text: string): boolean {
  if (!text.startsWith(prefix) || !WELL_FORMED.test(text.slice(prefix.length))) return false;
  return checksumOf(text.slice(0, -CHECKSUM_CHARACTERS)) === text.slice(-CHECKSUM_CHARACTERS);
}

/** The hash by which a secret is stored and looked up: SHA-256. With 190 random bits, it needs neither salt nor stretching. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** The hash of a secret of {@link newSecret} with this prefix; undefined: the text is not well-formed. */
export function hashIfSecret(prefix: SecretPrefix, text: string): Buffer | undefined {
  return hasSecretForm(prefix, text) ? hashSecret(text) : undefined;
}

/** The abbreviation of a secret that is shown after its creation: its first 8 and last 4 characters, with `...` in between. */
export function abbreviate(secret: string): string {
  return `${secret.slice(0, 8)}...${secret.slice(-4)}`;
}

function checksumOf(text: string): string {
  let value = crc32(text);
  let digits = '';
  for (let digit = 0; digit < CHECKSUM_CHARACTERS; digit += 1) {
    digits = BASE62[value % 62]! + digits;
    value = Math.floor(value / 62);
  }
  return digits;
}
