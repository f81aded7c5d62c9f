import { describe, expect, it } from '@jest/globals';
import { Prisma } from '../generated/client.ts';
import { openTestClient } from '../open-test-client.fixture.ts';
import { declaredModels, declaredSchema, type SchemaInWords } from './declared-schema.fixture.ts';

const COLUMNS = `
SELECT c.relname || '.' || a.attname || ': ' || format_type(a.atttypid, a.atttypmod)
       || CASE WHEN a.attnotnull THEN '' ELSE ', null' END
       || coalesce(', key ' || array_position(i.indkey::int2[], a.attnum) + 1, '') AS words
FROM   pg_class c
JOIN   pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
WHERE  c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
AND    c.relname <> '_prisma_migrations'`;

const ENUMS = `
SELECT t.typname || ': ' || string_agg(e.enumlabel, ', ' ORDER BY e.enumsortorder) AS words
FROM   pg_type t JOIN pg_enum e ON e.enumtypid = t.oid
WHERE  t.typnamespace = 'public'::regnamespace
GROUP BY t.typname`;

/** Unique indexes over the whole table; to Prisma, a partial index or one of an expression is not a unique key. */
const UNIQUE_INDEXES = `
SELECT i.indexrelid::regclass || ': ' || i.indrelid::regclass || ' (' || string_agg(a.attname, ', ' ORDER BY k.place) || ')' AS words
FROM   pg_index i
JOIN   pg_class c ON c.oid = i.indrelid AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, place)
JOIN   pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE  i.indisunique AND NOT i.indisprimary AND i.indpred IS NULL AND i.indexprs IS NULL
GROUP BY i.indexrelid, i.indrelid`;

const { client } = await openTestClient();

async function migratedSchema(): Promise<SchemaInWords> {
  const words = async (sql: string) =>
    (await client.query<{ words: string }>(sql)).rows.map((row) => row.words).sort();
  return {
    columns: await words(COLUMNS),
    enums: await words(ENUMS),
    uniqueIndexes: await words(UNIQUE_INDEXES),
  };
}

describe('The migrated database', () => {
  it('has exactly the tables and columns that the schema declares', async () => {
    expect(await migratedSchema()).toEqual(await declaredSchema());
  });

  it('matches the generated client', async () => {
    const models = await declaredModels();
    expect(Object.keys(Prisma.ModelName).sort()).toEqual([...models.keys()].sort());
    for (const [model, fields] of models) {
      const known = Prisma[`${model as keyof typeof Prisma.ModelName}ScalarFieldEnum`];
      expect([model, Object.keys(known)]).toEqual([model, fields]);
    }
  });
});

describe('The drift test detects', () => {
  it.each([
    ['a column that the schema lacks', 'ALTER TABLE emails ADD COLUMN mood text'],
    ['a column that the database lacks', 'ALTER TABLE emails DROP COLUMN group_by'],
    ['a column of another name', 'ALTER TABLE outbox RENAME COLUMN bytes TO size'],
    ['a wider integer', 'ALTER TABLE outbox ALTER COLUMN attempts TYPE integer'],
    ['text that became varchar', 'ALTER TABLE workspaces ALTER COLUMN name TYPE varchar(100)'],
    ['a time without its zone', 'ALTER TABLE identities ALTER COLUMN verified_at TYPE timestamp'],
    ['a time of fewer digits', 'ALTER TABLE identities ALTER COLUMN verified_at TYPE timestamptz(3)'],
    ['a column that may be null', 'ALTER TABLE emails ALTER COLUMN message_id DROP NOT NULL'],
    ['a column that may not', 'ALTER TABLE emails ALTER COLUMN from_name SET NOT NULL'],
    ['a primary key that is gone', 'ALTER TABLE paused_lanes DROP CONSTRAINT paused_lanes_pkey'],
    [
      'a primary key in another order',
      'ALTER TABLE paused_lanes DROP CONSTRAINT paused_lanes_pkey, ADD PRIMARY KEY (lane_id, queue)',
    ],
    ['a label that the schema lacks', `ALTER TYPE role ADD VALUE 'OWNER'`],
    ['a label of another name', `ALTER TYPE email_status RENAME VALUE 'SENT' TO 'RELEASED'`],
    ['an enum of another name', 'ALTER TYPE outbox_state RENAME TO outbox_condition'],
    ['a table that no model has', 'CREATE TABLE notes (id uuid PRIMARY KEY)'],
    ['a table that is gone', 'DROP TABLE idempotency_keys'],
    ['a unique index that is gone', 'DROP INDEX identities_workspace_value_key'],
    ['a unique index that no model has', 'CREATE UNIQUE INDEX one_name ON workspaces (name)'],
  ])('%s', async (_what, sql) => {
    await client.query('BEGIN');
    await client.query(sql);
    const schema = await migratedSchema();
    await client.query('ROLLBACK');
    expect(schema).not.toEqual(await declaredSchema());
  });
});
