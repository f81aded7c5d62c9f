import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout. Everything that these scripts read or write is below it, except the temporary folders of test runs. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url)).replace(/[\\/]$/, '');

const BIN = join(ROOT, 'node_modules', '.bin');

/** The oldest Node that the apps run on; the scripts themselves start on 20.19, before anything is installed. */
const OLDEST = { major: 22, minor: 19 };

function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor);
}

/**
 * The Node that apps, builds and tests run on: the one that npm installed, or else the current one.
 *
 * @returns {string} a path
 * @throws when the machine's Node is too old and npm has none for this platform
 */
export function nodeBinary() {
  const installed = join(BIN, 'node');
  if (existsSync(installed)) return installed;
  if (isNewEnough(process.versions.node)) return process.execPath;
  throw new Error(
    `Node ${process.versions.node} is too old to run Posthorn, and npm brings a newer one only for Linux on x64: ` +
      `install Node ${OLDEST.major}.${OLDEST.minor} or newer, then run this again.`,
  );
}

/**
 * An environment in which a bare `node`, `nx` or `prisma` is the installed one.
 *
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {NodeJS.ProcessEnv}
 */
export function withInstalledBinaries(env = process.env) {
  return { ...env, PATH: `${BIN}${delimiter}${env.PATH ?? ''}` };
}
