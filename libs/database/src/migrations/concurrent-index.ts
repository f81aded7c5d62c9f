import type pg from 'pg';

/** An index that is built while its table is written to. */
export interface ConcurrentIndex {
  readonly name: string;
  readonly table: string;
  readonly isUnique: boolean;
  /** What follows the table: method, columns, predicate. */
  readonly definition: string;
}

/** Tries a step again while others have locked what it needs; each step finds what an earlier attempt has done. */
export type Persistently = <Result>(step: () => Promise<Result>) => Promise<Result>;

/** The lock of a table that is waited for longer than this would delay all later statements on it. */
export const LOCK_TIMEOUT_MS = 1_500;

/**
 * An index that is built concurrently waits for each transaction that began before, such as a dump; nobody waits for it meanwhile, because its own lock of the
 * table conflicts only with vacuuming and with changes of the table.
 */
const OLDER_TRANSACTIONS_TIMEOUT_MS = 30 * 60_000;

const ONE_STATEMENT = /^CREATE (UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS (\w+) ON (\w+) ([^;]+);?$/i;

/** The index that a migration consists of, if it is only `CREATE INDEX CONCURRENTLY IF NOT EXISTS name ON table …`, which Postgres runs outside of transactions only. */
export function concurrentIndexOf(sql: string): ConcurrentIndex | undefined {
  const lines = sql.split('\n').map((line) => line.split('--', 1)[0]!.trim());
  const statement = lines.filter((line) => line !== '').join(' ');
  const [, unique, name, table, definition] = ONE_STATEMENT.exec(statement) ?? [];
  if (name === undefined || table === undefined || definition === undefined) return undefined;
  return { name, table, definition, isUnique: unique !== undefined };
}

/**
 * Builds the index; also on a partitioned table, for which Postgres has no such statement: an index of the table itself, which new partitions get at once, then
 * one of each partition, attached to it. Continues what an earlier call has begun.
 * https://www.postgresql.org/docs/current/ddl-partitioning.html#DDL-PARTITIONING-DECLARATIVE-MAINTENANCE
 *
 * @param client in no transaction; its `lock_timeout` changes
 */
export async function buildConcurrently(
  client: pg.Client,
  index: ConcurrentIndex,
  persistently: Persistently,
): Promise<void> {
  const { name, table } = index;
  const { rowCount } = await client.query(
    `SELECT FROM pg_class WHERE oid = to_regclass($1) AND relkind = 'p'`,
    [table],
  );
  if (rowCount === 0) return persistently(() => buildOn(client, index));

  await persistently(() => quickly(client, createStatement(index, 'IF NOT EXISTS', `ONLY ${table}`)));
  for (;;) {
    const partition = await findUnindexed(client, index);
    if (partition === undefined) return;
    // The name of an index ends with what it is about: posts_author_idx is posts_2026_01_author_idx there.
    const suffix = name.startsWith(`${table}_`) ? name.slice(table.length) : `_${name}`;
    const ofPartition = { ...index, table: partition, name: partition + suffix };
    await persistently(() => buildOn(client, ofPartition));
    await persistently(() => quickly(client, `ALTER INDEX ${name} ATTACH PARTITION ${ofPartition.name}`));
  }
}

/** Builds it on a table without partitions. */
async function buildOn(client: pg.Client, index: ConcurrentIndex): Promise<void> {
  await dropUnfinished(client, index.name);
  try {
    await client.query(`SET lock_timeout = ${OLDER_TRANSACTIONS_TIMEOUT_MS}`);
    await client.query(createStatement(index, 'CONCURRENTLY IF NOT EXISTS', index.table));
  } catch (error) {
    // What is left is used by no query, but costs every write, and a unique one refuses rows. If it cannot be dropped now, the next attempt does.
    await dropUnfinished(client, index.name).catch(() => undefined);
    throw error;
  }
}

/** Postgres keeps an index that could not be built to its end, as invalid. */
async function dropUnfinished(client: pg.Client, name: string): Promise<void> {
  const { rowCount } = await client.query(
    'SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid',
    [name],
  );
  if (rowCount !== 0) await quickly(client, `DROP INDEX ${name}`);
}

async function quickly(client: pg.Client, statement: string): Promise<void> {
  await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await client.query(statement);
}

/** A partition without its part of the index. */
async function findUnindexed(
  client: pg.Client,
  { name, table }: ConcurrentIndex,
): Promise<string | undefined> {
  const { rows } = await client.query<{ partition: string }>(
    `SELECT   p.relname AS partition
     FROM     pg_inherits t
     JOIN     pg_class p ON p.oid = t.inhrelid
     WHERE    t.inhparent = to_regclass($1)
     AND      NOT EXISTS (SELECT FROM pg_inherits i JOIN pg_index x ON x.indexrelid = i.inhrelid
                          WHERE i.inhparent = to_regclass($2) AND x.indrelid = p.oid)
     ORDER BY p.relname
     LIMIT    1`,
    [table, name],
  );
  return rows[0]?.partition;
}

function createStatement({ name, isUnique, definition }: ConcurrentIndex, how: string, on: string): string {
  return `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX ${how} ${name} ON ${on} ${definition}`;
}
