// Runs before type checks and builds, so that a new lib or app is found even if `npm ci` has not run since it was pulled.
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './stack/runtime.mjs';

/**
 * Links every lib and app of a checkout into node_modules, as npm does with workspaces; existing entries are kept.
 *
 * @param {string} [root]
 * @returns {string[]} the names that were missing
 */
export function linkPackages(root = ROOT) {
  const packages = ['apps', 'libs'].flatMap((kind) =>
    readdirSync(join(root, kind)).map((name) => join(root, kind, name)),
  );
  return packages.flatMap((directory) => {
    const manifest = join(directory, 'package.json');
    if (!existsSync(manifest)) return [];
    const { name } = JSON.parse(readFileSync(manifest, 'utf8'));
    const link = join(root, 'node_modules', name);
    if (existsSync(link)) return [];
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(relative(dirname(link), directory), link);
    return [name];
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) linkPackages();
