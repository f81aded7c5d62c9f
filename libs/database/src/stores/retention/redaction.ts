import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { addressPattern, addressPatternInNames, addressSpellings, redactAnswer } from '@posthorn/domain';
import type pg from 'pg';
import { ERASURE_RULES } from '../../schema/erasure-rules.ts';
import { nextOfWorkspace, type WorkspaceRows } from '../../schema/workspace-rows.ts';
import {
  COLUMNS_OF,
  countGroup,
  hasText,
  KEYS_NAMING_AMONG,
  redactGroup,
  type SearchedTable,
  type TextColumn,
} from '../../sql/redaction.ts';

/** How many rows of a table are searched together, at most. */
export const ROWS_SEARCHED_TOGETHER = 2_000;

/** The person to erase, and where. */
export interface PersonToErase {
  /** Its domain in lower-case ASCII. */
  readonly address: string;
  readonly workspaceId: WorkspaceId;
}

/** A pool, or a client in a transaction. */
type Queries = Pick<pg.ClientBase, 'query'>;

/** A group of rows of a workspace. */
export interface RowGroup {
  /** What they are found by. */
  readonly ids: readonly string[];
  /** Whether a row `t` is in it. */
  readonly condition: string;
  /** The parameters of the condition, from $3. */
  readonly values: readonly unknown[];
  /** The last key. */
  readonly end: readonly string[];
  readonly searched: number;
}

/** The result of one group of rows. */
interface RedactedGroup {
  readonly redacted: number;
  readonly left: number;
}

/** A table as it is searched; undefined: it has no text. */
export async function searchedTable(queries: Queries, table: string): Promise<SearchedTable | undefined> {
  const rule = ERASURE_RULES[table]!;
  const { rows: columns } = await queries.query<TextColumn>(COLUMNS_OF, [table]);
  return hasText(columns) ? { table, rule, columns } : undefined;
}

/** Redacts the rows of a group. */
export async function redactRows(
  queries: Queries,
  searched: SearchedTable,
  address: string,
  group: RowGroup,
): Promise<RedactedGroup> {
  const spellings = addressSpellings(address);
  const patterns = [addressPattern(spellings), addressPatternInNames(spellings)];
  const values = [spellings, patterns, ...group.values];
  const countNow = async (): Promise<number> =>
    (await queries.query<{ count: number }>(countGroup(searched, group.condition), values)).rows[0]!.count;
  const found = await countNow();
  if (found === 0 || searched.rule.how === 'kept') return { redacted: 0, left: found };
  const redacted = (await queries.query(redactGroup(searched, group.condition), values)).rowCount ?? 0;
  return { redacted, left: await countNow() };
}

/** The next rows of a workspace after a key; undefined: there are no more. */
export async function nextOf(
  queries: Queries,
  rows: WorkspaceRows,
  workspaceId: WorkspaceId,
  start: readonly string[],
  max: number,
): Promise<RowGroup | undefined> {
  const sql = nextOfWorkspace(rows, start.length === 0);
  const found = await queries.query<KeyedIds>(sql, [uuidOf(workspaceId), max, ...start]);
  const last = found.rows.at(-1);
  if (last === undefined) return undefined;
  const ids = found.rows.flatMap((row) => row.ids);
  const values = rows.isByWorkspace ? [ids, uuidOf(workspaceId)] : [ids];
  return { ids, condition: rows.match, values, end: last.key, searched: found.rows.length };
}

interface KeyedIds {
  readonly key: string[];
  readonly ids: string[];
}

/** Redacts the person in the stored answers of these keys of a workspace, and deletes keys that name them. @returns how many */
export async function redactAnswersOf(
  queries: Queries,
  { address, workspaceId }: PersonToErase,
  keys: readonly string[],
): Promise<{ redacted: number; deleted: number }> {
  const counts = { redacted: 0, deleted: 0 };
  const inNames = addressPatternInNames(addressSpellings(address));
  const values = [...namesOf(address), inNames, uuidOf(workspaceId), keys];
  for (const row of (await queries.query<FoundKey>(KEYS_NAMING_AMONG, values)).rows) {
    const done = await redactKey(queries, row, { address, workspaceId });
    if (done !== undefined) counts[done] += 1;
  }
  return counts;
}

interface FoundKey {
  readonly key: string;
  /** Whether the key itself names the person. */
  readonly isNamed: boolean;
  /** Null: it does not name the person, or there is none. */
  readonly answer: string | null;
}

/** Undefined: neither the key nor its current answer names the person. */
async function redactKey(
  queries: Queries,
  { key, isNamed, answer }: FoundKey,
  { address, workspaceId }: PersonToErase,
): Promise<'redacted' | 'deleted' | undefined> {
  const which = 'workspace_id = $1::uuid AND key = $2::text';
  const values = [uuidOf(workspaceId), key];
  if (isNamed) {
    await queries.query(`DELETE FROM idempotency_keys WHERE ${which}`, values);
    return 'deleted';
  }
  if (answer === null) return undefined;
  const sql = `UPDATE idempotency_keys SET answer = $3 WHERE ${which}`;
  await queries.query(sql, [...values, redactAnswer(answer, address)]);
  return 'redacted';
}

/** The person as statements take it: the spellings of the address, and a pattern for them. */
export function namesOf(address: string): [string[], string] {
  const spellings = addressSpellings(address);
  return [spellings, addressPattern(spellings)];
}
