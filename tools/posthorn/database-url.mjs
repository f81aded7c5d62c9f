import { readSettings } from '../stack/settings.mjs';
import { readJson, STACK_FILE } from '../stack/state.mjs';
import { NotReady } from './usage-error.mjs';

/**
 * Finds the database to work on: from the environment, from `.env`, or from the local stack that is running.
 *
 * @param {NodeJS.ProcessEnv} [env]
 * @param {{ envFile?: string, stackFile?: string }} [files]
 * @returns {{ url: string, from: string }} the URL and where it was found
 * @throws NotReady when there is none
 */
export function findDatabaseUrl(env = process.env, { envFile, stackFile = STACK_FILE } = {}) {
  const url = readSettings(env, envFile).DATABASE_URL;
  if (url !== undefined) return { url, from: env.DATABASE_URL ? 'the environment' : '.env' };
  const stack = readJson(stackFile);
  if (stack?.databaseUrl !== undefined) return { url: stack.databaseUrl, from: '.posthorn/stack.json' };
  throw new NotReady(
    'DATABASE_URL is not set, and no local stack is running: set it in the environment or in .env, or start a stack with npm run up',
  );
}
