import { run } from './processes.mjs';
import { nodeBinary, withInstalledBinaries } from './runtime.mjs';

/**
 * Brings a database to the newest migration. It needs the built libs.
 *
 * @param {string} databaseUrl
 * @returns {Promise<string>} what the migration said
 */
export async function migrate(databaseUrl) {
  const env = { ...withInstalledBinaries(), DATABASE_URL: databaseUrl };
  return (await run({ command: nodeBinary(), args: ['tools/migrate.mjs'], env })).trim();
}

/** The same for people: how many were applied instead of all their names. @param {string} said */
export function migrationsInShort(said) {
  const names = said.replace(/^applied /, '').split(', ');
  return names.length > 2 ? `applied ${names.length}, the newest is ${names.at(-1)}` : said;
}
