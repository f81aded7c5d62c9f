import type { ErasureRule } from '../erasure-rules.ts';

/** A column that is part of the primary key, or can contain text. */
export interface TextColumn {
  readonly name: string;
  readonly type: string;
  /** Its position in the primary key; null: not part of it. */
  readonly keyPlace: number | null;
}

/** A table that is searched for a person. */
export interface LookedThrough {
  readonly table: string;
  readonly columns: readonly TextColumn[];
  readonly rule: ErasureRule;
}

const TEXTS = new Set(['text', 'json', 'jsonb', 'text[]']);

/** The parameters that these statements share: $1 text[] and $2 text, the person; $3 uuid, the workspace (null: all). */
const PERSON = '$1::text[], $2::text';

function keyOf({ columns }: LookedThrough): TextColumn[] {
  return columns
    .filter(({ keyPlace }) => keyPlace !== null)
    .toSorted((one, other) => one.keyPlace! - other.keyPlace!);
}

/** Compares the key of a row `t` with the key in the parameters from `$first` on. */
function after(looked: LookedThrough, sign: '>' | '<=', first: number): string {
  const key = keyOf(looked);
  const names = key.map(({ name }) => `t.${name}`);
  const values = key.map(({ type }, place) => `$${first + place}::text::${type}`);
  return `(${names.join(', ')}) ${sign} (${values.join(', ')})`;
}

/** The last key of the next batch, as text. $1 int: batch size; then the key after which it starts, unless it is the first. Index: the primary key. Locks: none. */
export function endOfKeys(looked: LookedThrough, isFirst: boolean): string {
  const names = keyOf(looked).map(({ name }) => name);
  const texts = names.map((name) => `${name}::text`).join(', ');
  return `
SELECT   ARRAY[${texts}] AS key
FROM     (SELECT ${names.join(', ')} FROM ${looked.table} t ${isFirst ? '' : `WHERE ${after(looked, '>', 2)}`}
          ORDER BY ${names.join(', ')} LIMIT $1::int) g
ORDER BY ${names.map((name) => `${name} DESC`).join(', ')}
LIMIT    1`;
}

/** Selects the rows of a batch that name the person. Parameters from $4: the last key of the batch, then the key after which it starts, unless it is the first. */
function naming(looked: LookedThrough, texts: readonly TextColumn[], isFirst: boolean): string {
  const width = keyOf(looked).length;
  const named = texts.map(({ name }) => `names_person(t.${name}::text, ${PERSON})`).join(' OR ');
  const scope = looked.rule.scope?.('$3::uuid') ?? 'false';
  return [
    after(looked, '<=', 4),
    ...(isFirst ? [] : [after(looked, '>', 4 + width)]),
    `(${named})`,
    `($3::uuid IS NULL OR ${scope})`,
  ].join(' AND ');
}

/** The columns that may be changed: those with text that are not part of the key. */
function changeable({ columns }: LookedThrough): TextColumn[] {
  return columns.filter(({ type, keyPlace }) => keyPlace === null && TEXTS.has(type));
}

/** Replaces the person by `[erased]` in a batch; undefined: the table has no column that may be changed. Index: the primary key. Locks: the rows. */
export function redactGroup(looked: LookedThrough, isFirst: boolean): string | undefined {
  const texts = changeable(looked);
  if (texts.length === 0) return undefined;
  const changes = texts.map(({ name, type }) => `${name} = ${withoutPerson(name, type)}`);
  const { where } = looked.rule;
  return `
UPDATE ${looked.table} t SET ${changes.join(', ')}
WHERE  ${naming(looked, texts, isFirst)}${where === undefined ? '' : ` AND ${where}`}`;
}

/** A column without the person. */
function withoutPerson(name: string, type: string): string {
  if (type === 'text') return `without_person(t.${name}, ${PERSON})`;
  if (type !== 'text[]') return `without_person(t.${name}::text, ${PERSON})::${type}`;
  return `ARRAY(SELECT without_person(x, ${PERSON}) FROM unnest(t.${name}) WITH ORDINALITY AS u (x, n) ORDER BY n)`;
}

/** Counts the rows of a batch that name the person; undefined: the table has no text. Index: the primary key. Locks: none. */
export function countGroup(looked: LookedThrough, isFirst: boolean): string | undefined {
  const texts = looked.columns.filter(({ type }) => TEXTS.has(type));
  if (texts.length === 0) return undefined;
  return `SELECT count(*)::int AS count FROM ${looked.table} t WHERE ${naming(looked, texts, isFirst)}`;
}
