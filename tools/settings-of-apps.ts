import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './stack/runtime.mjs';

/** The apps, by the names of their folders. */
export const APPS = readdirSync(join(ROOT, 'apps'));

/** The apps whose main.ts reads a section of the settings. */
export function readersOf(section: string): string[] {
  return APPS.filter((app) => {
    const main = readFileSync(join(ROOT, 'apps', app, 'src', 'main.ts'), 'utf8');
    const asked = /readSettings\(\{([^}]*)\}\)/.exec(main)?.[1] ?? '';
    return new RegExp(`\\b${section}:`).test(asked);
  });
}
