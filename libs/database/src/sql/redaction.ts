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

/** The parameters that these statements share: $1 text[] and $2 text[], the person, the latter with a pattern for texts and one for names that callers compose. */
const IN_TEXTS = '$1::text[], ($2::text[])[1]';
/** For idempotency keys, which only arrays hold, and groups. */
const IN_NAMES = '$1::text[], ($2::text[])[2]';

/** Whether any of these columns can contain text. */
export function hasText(columns: readonly TextColumn[]): boolean {
  return columns.some(isText);
}

function personIn({ name, type }: TextColumn): string {
  return type === 'text[]' || name === 'group_by' ? IN_NAMES : IN_TEXTS;
}

function isText({ type }: TextColumn): boolean {
  return TEXTS.includes(type);
}

/** Selects the rows of a group that name the person. */
function naming(texts: readonly TextColumn[], group: string): string {
  const named = texts
    .map((column) => `names_person(t.${column.name}::text, ${personIn(column)})`)
    .join(' OR ');
  return `${group} AND (${named})`;
}

/**
 * Replaces the person by `[erased]` in a group, in the columns with text that are not part of the key. `group`: whether a row `t` is in it; parameters from $3.
 * Index: that of the group. Locks: the rows.
 */
export function redactGroup({ table, columns, rule }: SearchedTable, group: string): string {
  const texts = columns.filter((column) => isText(column) && column.keyPlace === null);
  const changes = texts.map((column) => `${column.name} = ${withoutPerson(column)}`);
  return `
UPDATE ${table} t SET ${changes.join(', ')}
WHERE  ${naming(texts, group)}${rule.where === undefined ? '' : ` AND ${rule.where}`}`;
}

/** A column without the person. */
function withoutPerson(column: TextColumn): string {
  const { name, type } = column;
  const person = personIn(column);
  if (type === 'text') return `without_person(t.${name}, ${person})`;
  if (type !== 'text[]') return `without_person(t.${name}::text, ${person})::${type}`;
  return `ARRAY(SELECT without_person(x, ${person}) FROM unnest(t.${name}) WITH ORDINALITY AS u (x, n) ORDER BY n)`;
}

/** Counts the rows of a group that name the person. `group`: whether a row `t` is in it; parameters from $3. Index: that of the group. Locks: none. */
export function countGroup({ table, columns }: SearchedTable, group: string): string {
  return `SELECT count(*)::int AS count FROM ${table} t WHERE ${naming(columns.filter(isText), group)}`;
}

/** Those of these idempotency keys whose key or answer names a person. $1 text[], $2 text: the person in answers. $3 text: the person in keys. $4 uuid: the workspace. $5 text[]: the keys. Index: idempotency_keys_pkey. Locks: these, in the order in which accepting locks them. */
export const KEYS_NAMING_AMONG = `
SELECT   key, names_person(key, $1::text[], $3::text) AS "isNamed",
         CASE WHEN names_person(answer, $1::text[], $2::text) THEN answer END AS answer
FROM     idempotency_keys
WHERE    workspace_id = $4::uuid AND key = ANY ($5::text[])
AND      (names_person(key, $1::text[], $3::text) OR names_person(answer, $1::text[], $2::text))
ORDER BY key
FOR UPDATE`;
