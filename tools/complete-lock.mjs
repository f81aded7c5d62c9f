// npm run complete-lock: to be run after `npm install`, so that `npm ci` accepts the lock file on every platform.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './stack/runtime.mjs';

/**
 * @typedef {object} LockedPackage
 * @property {string} [version]
 * @property {boolean} [dev]
 * @property {boolean} [optional]
 * @property {string[]} [os]
 * @property {string[]} [cpu]
 * @property {string[]} [libc]
 * @property {Record<string, string>} [optionalDependencies]
 */

const SYSTEMS = 'aix android darwin freebsd linux netbsd openbsd openharmony sunos win32'.split(' ');
const WINDOWS = 'windows';
const PROCESSORS = 'arm64 arm ia32 loong64 mips64el ppc64 riscv64 s390x wasm32 x64'.split(' ');

/**
 * The platform in a package's name: `@swc/core-linux-x64-musl` is for Linux on x64 with musl.
 *
 * @param {string} name
 * @returns {Pick<LockedPackage, 'os' | 'cpu' | 'libc'>}
 */
export function platformOf(name) {
  const words = name.split(/[-/]/).map((word) => (word === WINDOWS ? 'win32' : word));
  const os = words.filter((word) => SYSTEMS.includes(word));
  const cpu = words.filter((word) => PROCESSORS.includes(word));
  const musl = words.some((word) => word.startsWith('musl'));
  const gnu = words.some((word) => word.startsWith('gnu'));
  return {
    ...(os.length > 0 && { os }),
    ...(cpu.length > 0 && { cpu }),
    ...(os.includes('linux') && (musl || gnu) && { libc: [musl ? 'musl' : 'glibc'] }),
  };
}

/**
 * Adds the optional packages of other platforms that the registry did not have when the lock file was created. npm silently omits them from
 * the lock file, and `npm ci` then rejects it.
 *
 * @param {Record<string, LockedPackage>} packages of package-lock.json, by path; added to
 * @returns {string[]} what was added
 */
export function complete(packages) {
  const added = [];
  for (const { dev, optionalDependencies = {} } of Object.values(packages)) {
    for (const [name, range] of Object.entries(optionalDependencies)) {
      const path = `node_modules/${name}`;
      if (packages[path] !== undefined) continue;
      const version = range.replace(/^[~^]/, '');
      packages[path] = { version, ...(dev && { dev }), optional: true, ...platformOf(name) };
      added.push(`${name}@${version}`);
    }
  }
  return added;
}

function main() {
  const file = join(ROOT, 'package-lock.json');
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  const added = complete(lock.packages);
  lock.packages = Object.fromEntries(
    Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')),
  );
  if (added.length > 0) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  process.stdout.write(`${added.length} packages added\n${added.map((name) => `  ${name}\n`).join('')}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
