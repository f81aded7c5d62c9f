import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { ROOT } from './runtime.mjs';

/**
 * The settings of the local stack: the environment, which overrides the `.env` file. An empty value counts as unset.
 *
 * @param {NodeJS.ProcessEnv} [env]
 * @param {string} [file] as of `readEnvFile`
 * @returns {Record<string, string>}
 */
export function readSettings(env = process.env, file) {
  const given = [...Object.entries(readEnvFile(file)), ...Object.entries(env)];
  return Object.fromEntries(given.flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

/** The contents of a settings file, by default `.env`; empty if there is none. @param {string} [file] @returns {NodeJS.Dict<string>} */
export function readEnvFile(file = join(ROOT, '.env')) {
  // Some editors begin a file with a byte order mark, which would become part of the first name.
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8').replace(/^\uFEFF/, '')) : {};
}
