import { hash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './processes.mjs';
import { ROOT } from './runtime.mjs';

/** Records which lock file node_modules was installed from. npm removes it with everything else when it reinstalls. */
const STAMP = join(ROOT, 'node_modules', '.posthorn-installed');

/** npm's own record of what is installed: a node_modules from a plain `npm ci` does not have our stamp. */
const NPM_RECORD = join(ROOT, 'node_modules', '.package-lock.json');

function lockDigest() {
  return hash('sha256', readFileSync(join(ROOT, 'package-lock.json')));
}

/** Whether node_modules matches package-lock.json. @returns {boolean} */
function isInstalled() {
  if (!existsSync(NPM_RECORD)) return false;
  return isStamped() || samePackages();
}

function isStamped() {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === lockDigest();
}

function samePackages() {
  const wanted = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
  const present = JSON.parse(readFileSync(NPM_RECORD, 'utf8')).packages;
  const isThere = ([path, { optional, version }]) => optional || !path || present[path]?.version === version;
  return Object.entries(wanted).every(isThere);
}

/**
 * Installs everything even where npm is configured to omit something, as with NODE_ENV=production: the build needs all of it, and the stamp
 * means that everything is installed.
 */
const COMPLETE = ['--include=dev', '--include=optional', '--ignore-scripts=false'];

/** On an error, npm prints the reason first and then its usage; only the reason is shown. */
async function installPackages() {
  try {
    await run({ command: 'npm', args: ['ci', ...COMPLETE, '--no-audit', '--no-fund'], keepLines: Infinity });
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
