import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readJson, SECRETS_FILE, writeJson } from './state.mjs';

/** A new ring with one key, named after the year. @returns {string} in the format of ENCRYPTION_KEYS */
export function newKeyRing() {
  return `${new Date().getFullYear()}:${randomBytes(32).toString('base64')}`;
}

/**
 * The key ring of the settings, or else our own, created by the first `up` and kept, because the local database is useless without it.
 *
 * @param {Record<string, string>} settings
 * @param {string} [file]
 * @returns {string}
 */
export function provideKeyRing({ ENCRYPTION_KEYS }, file = SECRETS_FILE) {
  if (ENCRYPTION_KEYS !== undefined) return ENCRYPTION_KEYS;
  const known = readJson(file)?.encryptionKeys;
  if (known !== undefined) return known;
  if (existsSync(file))
    throw new Error(
      `${file} is damaged, and the local database has secrets that only its key opens: restore it, or remove both with npm run nuke.`,
    );
  const encryptionKeys = newKeyRing();
  writeJson(file, { encryptionKeys });
  return encryptionKeys;
}
