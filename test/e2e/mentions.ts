import type { Stack } from './stack.ts';

/** A column that can contain text. */
interface TextColumn {
  readonly table: string;
  readonly column: string;
  readonly type: string;
}

/** All columns of the database in which somebody can be mentioned. */
export async function textColumns({ database }: Stack): Promise<readonly TextColumn[]> {
  const { rows } = await database.pool.query<TextColumn>(
    `SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, NULL) AS type
     FROM   pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE  c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
     AND    format_type(a.atttypid, NULL) IN ('text', 'json', 'jsonb', 'bytea', 'text[]', 'character varying')`,
  );
  return rows;
}

/** Where a text is in the database, in any case: searches each of these columns. */
export async function mentionsOf(stack: Stack, text: string): Promise<string[]> {
  const places: string[] = [];
  for (const { table, column, type } of await textColumns(stack)) {
    const shown = type === 'bytea' ? `encode("${column}", 'escape')` : `"${column}"::text`;
    const sql = `SELECT count(*)::int AS count FROM "${table}" WHERE ${shown} ILIKE $1`;
    if ((await stack.count(sql, [`%${text}%`])) > 0) places.push(`${table}.${column}`);
  }
  return places.toSorted();
}
