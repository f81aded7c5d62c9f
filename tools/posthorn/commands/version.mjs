import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../stack/runtime.mjs';

/** @type {import('../commands.mjs').Command[]} */
export const VERSION_COMMANDS = [
  {
    name: 'version',
    otherName: '--version',
    sentence: 'Says which release this is, and its newest migration.',
    flags: {},
    example: 'version',
    withoutDatabase: true,
    run: () => Promise.resolve({ version: release(), newestMigration: newestMigration() }),
    show: ({ version, newestMigration }) => `Posthorn ${version}, newest migration ${newestMigration}`,
  },
];

/** @returns {string} */
function release() {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;
}

function newestMigration() {
  const entries = readdirSync(join(ROOT, 'prisma', 'migrations'), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .at(-1);
}
