import type { ErasureRule } from '../schema/erasure-rules.ts';

/** A column that is part of the primary key, or can contain text. */
export interface TextColumn {
  readonly name: string;
  readonly type: string;
  /** Its position in the primary key; null: not part of it. */
  readonly keyPlace: number | null;
}

/** A table that is searched for a person. */
export interface SearchedTable {
  readonly table: string;
  readonly columns: readonly TextColumn[];
  readonly rule: ErasureRule;
}

const TEXTS = ['text', 'json', 'jsonb', 'text[]'];

/** The columns of a table that can hold text, and those of its key, in their order. $1 text: the table. */
export const COLUMNS_OF = `
SELECT   a.attname AS name, format_type(a.atttypid, NULL) AS type, array_position(i.indkey::int2[], a.attnum) AS "keyPlace"
FROM     pg_attribute a
JOIN     pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
WHERE    a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
AND      (format_type(a.atttypid, NULL) IN ('${TEXTS.join("', '")}') OR a.attnum = ANY (i.indkey))
ORDER BY a.attnum`;

/**
 * The parameters that these statements share: $1 text[] and $2 text[], the person, the latter with a pattern for texts and one for names that callers compose;
 * $3 uuid, the workspace (null: all).
 */
const IN_TEXTS = '$1::text[], ($2::text[])[1]';
/** For arrays: those that are redacted hold idempotency keys. */
const IN_NAMES = '$1::text[], ($2::text[])[2]';

function keyOf({ columns }: SearchedTable): TextColumn[] {
  return columns
    .filter(({ keyPlace }) => keyPlace !== null)
    .toSorted((one, other) => one.keyPlace! - other.keyPlace!);
}

/** Compares the key of a row `t` with the key in the parameters from `$first` on. */
function after(searched: SearchedTable, sign: '>' | '<=', first: number): string {
  const key = keyOf(searched);
  const names = key.map(({ name }) => `t.${name}`);
  const values = key.map(({ type }, place) => `$${first + place}::text::${type}`);
  return `(${names.join(', ')}) ${sign} (${values.join(', ')})`;
}

/** The last key of the next group, as text, and the number of its rows. $1 int: group size; then the key after which it starts, unless it is the first. Index: the primary key. Locks: none. */
export function endOfKeys(searched: SearchedTable, isFirst: boolean): string {
  const names = keyOf(searched).map(({ name }) => name);
  const texts = names.map((name) => `${name}::text`).join(', ');
  return `
SELECT   ARRAY[${texts}] AS key, count(*) OVER ()::int AS searched
FROM     (SELECT ${names.join(', ')} FROM ${searched.table} t ${isFirst ? '' : `WHERE ${after(searched, '>', 2)}`}
          ORDER BY ${names.join(', ')} LIMIT $1::int) g
ORDER BY ${names.map((name) => `${name} DESC`).join(', ')}
LIMIT    1`;
}

/** Whether any of these columns can contain text. */
export function hasText(columns: readonly TextColumn[]): boolean {
  return columns.some(isText);
}

function personIn(type: string): string {
  return type === 'text[]' ? IN_NAMES : IN_TEXTS;
}

function isText({ type }: TextColumn): boolean {
  return TEXTS.includes(type);
}

/** Selects the rows of a group that name the person. Parameters from $4: the last key of the group, then the key after which it starts, unless it is the first. */
function naming(searched: SearchedTable, texts: readonly TextColumn[], isFirst: boolean): string {
  const width = keyOf(searched).length;
  const named = texts
    .map(({ name, type }) => `names_person(t.${name}::text, ${personIn(type)})`)
    .join(' OR ');
  return [
    after(searched, '<=', 4),
    ...(isFirst ? [] : [after(searched, '>', 4 + width)]),
    `(${named})`,
    `($3::uuid IS NULL OR ${searched.rule.scope ?? 'false'})`,
  ].join(' AND ');
}

/** Replaces the person by `[erased]` in a group, in the columns with text that are not part of the key. Index: the primary key. Locks: the rows. */
export function redactGroup(searched: SearchedTable, isFirst: boolean): string {
  const texts = searched.columns.filter((column) => isText(column) && column.keyPlace === null);
  const changes = texts.map(({ name, type }) => `${name} = ${withoutPerson(name, type)}`);
  const { where } = searched.rule;
  return `
UPDATE ${searched.table} t SET ${changes.join(', ')}
WHERE  ${naming(searched, texts, isFirst)}${where === undefined ? '' : ` AND ${where}`}`;
}

/** A column without the person. */
function withoutPerson(name: string, type: string): string {
  const person = personIn(type);
  if (type === 'text') return `without_person(t.${name}, ${person})`;
  if (type !== 'text[]') return `without_person(t.${name}::text, ${person})::${type}`;
  return `ARRAY(SELECT without_person(x, ${person}) FROM unnest(t.${name}) WITH ORDINALITY AS u (x, n) ORDER BY n)`;
}

/** Counts the rows of a group that name the person. Index: the primary key. Locks: none. */
export function countGroup(searched: SearchedTable, isFirst: boolean): string {
  const texts = searched.columns.filter(isText);
  return `SELECT count(*)::int AS count FROM ${searched.table} t WHERE ${naming(searched, texts, isFirst)}`;
}

/** Scans idempotency keys for those whose key or answer names a person. $1 text[], $2 text: the person in answers. $3 uuid: the workspace; null: all. $4 uuid, $5 text: after this key. $6 int: how many. $7 text: the person in keys. Index: idempotency_keys_pkey. Locks: none. */
export const KEYS_NAMING = `
SELECT   workspace_id AS "workspaceId", key, names_person(key, $1::text[], $7::text) AS "isNamed",
         CASE WHEN names_person(answer, $1::text[], $2::text) THEN answer END AS answer
FROM     idempotency_keys
WHERE    (workspace_id, key) > ($4::uuid, $5::text) AND ($3::uuid IS NULL OR workspace_id = $3::uuid)
ORDER BY workspace_id, key
LIMIT    $6::int`;
