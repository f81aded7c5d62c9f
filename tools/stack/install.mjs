import { hash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './processes.mjs';
import { ROOT } from './runtime.mjs';

/** Says which lock file node_modules was installed from. npm removes it with everything else when it installs anew. */
const STAMP = join(ROOT, 'node_modules', '.posthorn-installed');

/** npm writes its own note of what is installed; a node_modules that somebody made with `npm ci` has no stamp of ours. */
const NPM_NOTE = join(ROOT, 'node_modules', '.package-lock.json');

function lockDigest() {
  return hash('sha256', readFileSync(join(ROOT, 'package-lock.json')));
}

/** Whether node_modules is what package-lock.json says. @returns {boolean} */
function isInstalled() {
  if (!existsSync(NPM_NOTE)) return false;
  return isStamped() || samePackages();
}

function isStamped() {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === lockDigest();
}

function samePackages() {
  const wanted = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
  const present = JSON.parse(readFileSync(NPM_NOTE, 'utf8')).packages;
  const isThere = ([path, { optional, version }]) => optional || !path || present[path]?.version === version;
  return Object.entries(wanted).every(isThere);
}

/** Whatever the machine's npm leaves out, as it does with NODE_ENV=production: the build needs it all, and the stamp says that it is there. */
const WHOLE = ['--include=dev', '--include=optional', '--ignore-scripts=false'];

/** npm says what is wrong first, and then how to use it; the reason is what a person needs. */
async function installPackages() {
  try {
    await run({ command: 'npm', args: ['ci', ...WHOLE, '--no-audit', '--no-fund'], keepLines: Infinity });
  } catch (error) {
    const reasons = error.message.split('\n').filter((line) => /^npm error \S/.test(line));
    throw new Error(
      reasons.length === 0 ? error.message : `npm ci failed:\n${reasons.slice(0, 12).join('\n')}`,
    );
  }
}

/**
 * Installs the packages when node_modules is missing or older than package-lock.json.
 *
 * @returns {Promise<string>} what was done, for the progress line
 */
export async function ensureInstalled() {
  const wasInstalled = isInstalled();
  if (!wasInstalled) await installPackages();
  if (!isStamped()) writeFileSync(STAMP, lockDigest());
  return wasInstalled ? 'up to date' : 'npm ci';
}
