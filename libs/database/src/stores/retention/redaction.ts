import { FIRST_ID, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { addressPattern, addressPatternInNames, addressSpellings, redactAnswer } from '@posthorn/domain';
import type pg from 'pg';
import { AdaptiveGroupSize } from '../../transactions/adaptive-group-size.ts';
import { ERASURE_RULES } from '../../schema/erasure-rules.ts';
import {
  COLUMNS_OF,
  countGroup,
  endOfKeys,
  hasText,
  KEYS_NAMING,
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

/** The redaction of a table. */
interface Redaction {
  readonly searched: SearchedTable;
  readonly person: readonly unknown[];
  readonly counts: { redacted: number; left: number };
  readonly onSearched: OnSearched;
}

/** Replaces the address by `[erased]` in a table, if its rule allows that. @returns how many rows were changed, and how many still name the person */
export async function redactTable(
  pool: pg.Pool,
  table: string,
  { address, workspaceId }: PersonToErase,
  onSearched: OnSearched = () => undefined,
): Promise<Redaction['counts']> {
  const rule = ERASURE_RULES[table]!;
  const counts = { redacted: 0, left: 0 };
  if (workspaceId !== null && rule.scope === undefined) return counts;
  const { rows: columns } = await pool.query<TextColumn>(COLUMNS_OF, [table]);
  if (!hasText(columns)) return counts;
  const spellings = addressSpellings(address);
  const patterns = [addressPattern(spellings), addressPatternInNames(spellings)];
  const person = [spellings, patterns, workspaceId && uuidOf(workspaceId)];
  const redaction = { searched: { table, rule, columns }, person, counts, onSearched };
  const size = new AdaptiveGroupSize();
  for (let start: readonly string[] | undefined = []; start !== undefined;) {
    const after: readonly string[] = start;
    start = await size.run(rule.group ?? GROUP, (max) => redactNext(pool, redaction, after, max));
  }
  return counts;
}

/** Redacts the next rows after a key. @returns the key of the last one */
async function redactNext(
  pool: pg.Pool,
  { searched, person, counts, onSearched }: Redaction,
  start: readonly string[],
  max: number,
): Promise<string[] | undefined> {
  const isFirst = start.length === 0;
  const { rows } = await pool.query<EndOfKeys>(endOfKeys(searched, isFirst), [max, ...start]);
  const [end] = rows;
  if (end === undefined) return undefined;
  const values = [...person, ...end.key, ...start];
  const countNow = async (): Promise<number> =>
    (await pool.query<{ count: number }>(countGroup(searched, isFirst), values)).rows[0]!.count;
  const found = await countNow();
  if (found === 0 || searched.rule.how === 'kept') counts.left += found;
  else {
    counts.redacted += (await pool.query(redactGroup(searched, isFirst), values)).rowCount ?? 0;
    counts.left += await countNow();
  }
  onSearched(end.searched);
  return end.key;
}

interface EndOfKeys {
  readonly key: string[];
  readonly searched: number;
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
  pool: pg.Pool,
  { workspaceId, key, isNamed, answer }: FoundKey,
  address: string,
): Promise<'redacted' | 'deleted' | undefined> {
  const which = 'workspace_id = $1::uuid AND key = $2::text';
  if (isNamed) {
    await pool.query(`DELETE FROM idempotency_keys WHERE ${which}`, [workspaceId, key]);
    return 'deleted';
  }
  if (answer === null) return undefined;
  // Unless another call has taken the key since it expired.
  const sql = `UPDATE idempotency_keys SET answer = $3 WHERE ${which} AND answer = $4`;
  const { rowCount } = await pool.query(sql, [workspaceId, key, redactAnswer(answer, address), answer]);
  return rowCount === 0 ? undefined : 'redacted';
}

/** The person as statements take it: the spellings of the address, and a pattern for them. */
export function namesOf(address: string): [string[], string] {
  const spellings = addressSpellings(address);
  return [spellings, addressPattern(spellings)];
}
