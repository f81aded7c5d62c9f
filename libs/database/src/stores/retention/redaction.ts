import { FIRST_ID, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { addressPattern, addressPatternInNames, addressSpellings, redactAnswer } from '@posthorn/domain';
import type pg from 'pg';
import { AdaptiveGroupSize } from '../../transactions/adaptive-group-size.ts';
import { ERASURE_RULES } from '../../schema/erasure-rules.ts';
import { nextOfWorkspace, type WorkspaceRows } from '../../schema/workspace-rows.ts';
import {
  COLUMNS_OF,
  countGroup,
  endOfKeys,
  hasText,
  isInGroup,
  KEYS_NAMING,
  KEYS_NAMING_AMONG,
  redactGroup,
  type SearchedTable,
  type TextColumn,
} from '../../sql/redaction.ts';

const GROUP = 2_000;

/** The person to erase, and where. */
export interface PersonToErase {
  /** Its domain in lower-case ASCII. */
  readonly address: string;
  /** Null: everywhere. */
  readonly workspaceId: WorkspaceId | null;
}

/** Is called after each group, with the number of rows that were searched in it. */
export type OnSearched = (rows: number) => void;

/** A pool, or a client in a transaction. */
type Queries = Pick<pg.ClientBase, 'query'>;

/** A group of rows of a table. */
export interface RowGroup {
  /** Whether a row `t` is in it. */
  readonly condition: string;
  /** The parameters of the condition, from $3. */
  readonly values: readonly unknown[];
  /** The last key. */
  readonly end: readonly string[];
  readonly searched: number;
}

/** A group of rows of a workspace. */
interface WorkspaceGroup extends RowGroup {
  /** What they are found by. */
  readonly ids: readonly string[];
}

/** The result of one group of rows. */
interface RedactedGroup extends Pick<RowGroup, 'end' | 'searched'> {
  readonly redacted: number;
  readonly left: number;
}

/** Replaces the address by `[erased]` in a table, if its rule allows that. @returns how many rows were changed, and how many still name the person */
export async function redactTable(
  pool: pg.Pool,
  table: string,
  person: PersonToErase,
  onSearched: OnSearched = () => undefined,
): Promise<{ redacted: number; left: number }> {
  const counts = { redacted: 0, left: 0 };
  const searched = await searchedTable(pool, table, person);
  if (searched === undefined) return counts;
  const size = new AdaptiveGroupSize();
  for (let start: readonly string[] = []; ;) {
    const from = start;
    const group = await size.run(groupSizeOf(table), (max) => redactNext(pool, searched, person, from, max));
    if (group === undefined) return counts;
    counts.redacted += group.redacted;
    counts.left += group.left;
    onSearched(group.searched);
    start = group.end;
  }
}

/** How many rows of a table are searched together, at most. */
export function groupSizeOf(table: string): number {
  return ERASURE_RULES[table]!.group ?? GROUP;
}

/** A table as it is searched; undefined: it has no text, or is not searched for a workspace. */
export async function searchedTable(
  queries: Queries,
  table: string,
  { workspaceId }: PersonToErase,
): Promise<SearchedTable | undefined> {
  const rule = ERASURE_RULES[table]!;
  if (workspaceId !== null && rule.ofWorkspace === undefined) return undefined;
  const { rows: columns } = await queries.query<TextColumn>(COLUMNS_OF, [table]);
  return hasText(columns) ? { table, rule, columns } : undefined;
}

/** Redacts the next rows after a key. @returns undefined: there are no more */
async function redactNext(
  queries: Queries,
  searched: SearchedTable,
  { address, workspaceId }: PersonToErase,
  start: readonly string[],
  max: number,
): Promise<RedactedGroup | undefined> {
  const rows = searched.rule.ofWorkspace;
  const group =
    workspaceId === null
      ? await nextOfTable(queries, searched, start, max)
      : await nextOf(queries, rows!, workspaceId, start, max);
  return group && redactRows(queries, searched, address, group);
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
  if (found === 0 || searched.rule.how === 'kept') return { ...group, redacted: 0, left: found };
  const redacted = (await queries.query(redactGroup(searched, group.condition), values)).rowCount ?? 0;
  return { ...group, redacted, left: await countNow() };
}

async function nextOfTable(
  queries: Queries,
  searched: SearchedTable,
  start: readonly string[],
  max: number,
): Promise<RowGroup | undefined> {
  const isFirst = start.length === 0;
  const { rows } = await queries.query<EndOfKeys>(endOfKeys(searched, isFirst), [max, ...start]);
  const [end] = rows;
  if (end === undefined) return undefined;
  const condition = isInGroup(searched, isFirst);
  return { condition, values: [...end.key, ...start], end: end.key, searched: end.searched };
}

/** The next rows of a workspace after a key; undefined: there are no more. */
export async function nextOf(
  queries: Queries,
  rows: WorkspaceRows,
  workspaceId: WorkspaceId,
  start: readonly string[],
  max: number,
): Promise<WorkspaceGroup | undefined> {
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

interface EndOfKeys {
  readonly key: string[];
  readonly searched: number;
}

/** Redacts the person in the stored answers of these keys of a workspace, and deletes keys that name them. @returns how many */
export async function redactAnswersOf(
  queries: Queries,
  address: string,
  workspaceId: WorkspaceId,
  keys: readonly string[],
): Promise<{ redacted: number; deleted: number }> {
  const counts = { redacted: 0, deleted: 0 };
  const inNames = addressPatternInNames(addressSpellings(address));
  const values = [...namesOf(address), inNames, uuidOf(workspaceId), keys];
  for (const row of (await queries.query<FoundKey>(KEYS_NAMING_AMONG, values)).rows) {
    const done = await redactKey(queries, row, address);
    if (done !== undefined) counts[done] += 1;
  }
  return counts;
}

/** Redacts the person in the stored answers of idempotency keys, and deletes keys that name them. @returns how many */
export async function redactAnswers(
  pool: pg.Pool,
  { address, workspaceId }: PersonToErase,
  onSearched: OnSearched = () => undefined,
): Promise<{ redacted: number; deleted: number }> {
  const counts = { redacted: 0, deleted: 0 };
  const inNames = addressPatternInNames(addressSpellings(address));
  const size = new AdaptiveGroupSize();
  let after: readonly [string, string] = [FIRST_ID, ''];
  for (;;) {
    const person = [...namesOf(address), workspaceId && uuidOf(workspaceId), ...after];
    const { rows, isLast } = await size.run(GROUP, async (max) => {
      const found = await pool.query<FoundKey>(KEYS_NAMING, [...person, max, inNames]);
      return { rows: found.rows, isLast: found.rows.length < max };
    });
    for (const row of rows) {
      const done = await redactKey(pool, row, address);
      if (done !== undefined) counts[done] += 1;
    }
    onSearched(rows.length);
    const last = rows.at(-1);
    if (last === undefined || isLast) return counts;
    after = [last.workspaceId, last.key];
  }
}

interface FoundKey {
  readonly workspaceId: string;
  readonly key: string;
  /** Whether the key itself names the person. */
  readonly isNamed: boolean;
  /** Null: it does not name the person, or there is none. */
  readonly answer: string | null;
}

/** Undefined: neither the key nor its current answer names the person. */
async function redactKey(
  queries: Queries,
  { workspaceId, key, isNamed, answer }: FoundKey,
  address: string,
): Promise<'redacted' | 'deleted' | undefined> {
  const which = 'workspace_id = $1::uuid AND key = $2::text';
  if (isNamed) {
    await queries.query(`DELETE FROM idempotency_keys WHERE ${which}`, [workspaceId, key]);
    return 'deleted';
  }
  if (answer === null) return undefined;
  // Unless another call has taken the key since it expired.
  const sql = `UPDATE idempotency_keys SET answer = $3 WHERE ${which} AND answer = $4`;
  const { rowCount } = await queries.query(sql, [workspaceId, key, redactAnswer(answer, address), answer]);
  return rowCount === 0 ? undefined : 'redacted';
}

/** The person as statements take it: the spellings of the address, and a pattern for them. */
export function namesOf(address: string): [string[], string] {
  const spellings = addressSpellings(address);
  return [spellings, addressPattern(spellings)];
}
