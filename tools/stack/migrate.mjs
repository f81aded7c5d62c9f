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
