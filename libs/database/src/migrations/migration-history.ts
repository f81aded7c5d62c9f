import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';

/** A migration of this release. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** A migration of the database, unless it was rolled back. */
interface HistoryEntry {
  readonly name: string;
  readonly checksum: string;
  /** False: it was begun by Prisma, and failed or is under way. */
  readonly isFinished: boolean;
}

/** An applied migration differs from its file, its file is missing, or it was applied only partly or in another schema. */
export class MigrationMismatch extends Error {}

/** The migrations in a directory, in their order. */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(directory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: hash('sha256', sql) };
    }),
  );
}

/** The migrations of the database. @throws MigrationMismatch when its tables are in a schema outside of this role's search path */
export async function readHistory(client: pg.Client): Promise<HistoryEntry[]> {
  const { rows } = await client.query<{ found: boolean; path: string; hidden: string | null }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS found, current_setting('search_path') AS path,
            (SELECT min(b.relnamespace::regnamespace::text)
             FROM   pg_class b
             JOIN   pg_class e ON e.relnamespace = b.relnamespace AND e.relname = 'event_eras'
             WHERE  b.relname = '_prisma_migrations' AND pg_get_userbyid(b.relowner) = current_user) AS hidden`,
  );
  const { found, path, hidden } = rows[0]!;
  if (!found && hidden !== null)
    throw new MigrationMismatch(
      `the tables are in the schema ${hidden}, which the search_path of this role (${path || 'empty'}) does not name; set it back (ALTER ROLE … RESET search_path), or name that schema`,
    );
  if (!found) return [];
  const history = await client.query<HistoryEntry>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS "isFinished"
     FROM   _prisma_migrations WHERE rolled_back_at IS NULL`,
  );
  return history.rows;
}

/** The migrations that a database with this history does not have. @throws MigrationMismatch when the files do not match the history */
export function missingOf(migrations: readonly Migration[], history: readonly HistoryEntry[]): Migration[] {
  const unfinished = history.find(({ isFinished }) => !isFinished);
  if (unfinished !== undefined)
    throw new MigrationMismatch(
      `migration ${unfinished.name} was begun by Prisma and did not finish; repair what it left, then run \`prisma migrate resolve\``,
    );
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = history.find(({ name }) => !known.has(name));
  if (unknown !== undefined)
    throw new MigrationMismatch(
      `the database has migration ${unknown.name}, which this release lacks: use the release that applied it, or a newer one`,
    );
  const applied = new Map(history.map(({ name, checksum }) => [name, checksum]));
  const changed = migrations.find(({ name, checksum }) => (applied.get(name) ?? checksum) !== checksum);
  if (changed !== undefined)
    throw new MigrationMismatch(
      `migration ${changed.name} was changed after it was applied; add a new one instead`,
    );
  return migrations.filter(({ name }) => !applied.has(name));
}
