import { readSettings } from '../stack/settings.mjs';
import { readJson, SECRETS_FILE } from '../stack/state.mjs';
import { NotReady } from './usage-error.mjs';

/**
 * The key ring of the environment, of `.env`, or of the local stack.
 *
 * @param {NodeJS.ProcessEnv} [env]
 * @param {{ envFile?: string, secretsFile?: string }} [files]
 * @returns {string} in the format of ENCRYPTION_KEYS
 * @throws NotReady when there is none
 */
export function findKeyRing(env = process.env, { envFile, secretsFile = SECRETS_FILE } = {}) {
  const keys = readSettings(env, envFile).ENCRYPTION_KEYS ?? readJson(secretsFile)?.encryptionKeys;
  if (keys !== undefined) return keys;
  throw new NotReady(
    'ENCRYPTION_KEYS is not set: set it in the environment or in .env to what the apps have',
  );
}
