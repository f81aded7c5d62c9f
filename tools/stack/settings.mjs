import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { ROOT } from './runtime.mjs';

/**
 * The settings of the local stack: the environment, and below it the `.env` file. An empty value is no value.
 *
 * @param {NodeJS.ProcessEnv} [env]
 * @param {string} [file]
 * @returns {Record<string, string>}
 */
export function readSettings(env = process.env, file = join(ROOT, '.env')) {
  const fromFile = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
  const given = [...Object.entries(fromFile), ...Object.entries(env)];
  return Object.fromEntries(given.flatMap(([name, value]) => (value ? [[name, value]] : [])));
}
