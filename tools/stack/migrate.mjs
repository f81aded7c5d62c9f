import { run } from './processes.mjs';
import { nodeBinary, withInstalledBinaries } from './runtime.mjs';

/**
 * Applies all missing migrations to a database. Needs the built libs.
 *
 * @param {string} databaseUrl
 * @returns {Promise<string>} the output of the migration
 */
export async function migrate(databaseUrl) {
  const env = { ...withInstalledBinaries(), DATABASE_URL: databaseUrl };
  return (await run({ command: nodeBinary(), args: ['tools/migrate.mjs'], env })).trim();
}

/** Shortens this output: the number of applied migrations instead of all their names. @param {string} output */
export function summariseMigrations(output) {
  const names = output.replace(/^applied /, '').split(', ');
  return names.length > 2 ? `applied ${names.length}, the newest is ${names.at(-1)}` : output;
}
