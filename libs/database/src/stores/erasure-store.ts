import { FIRST_ID, idFromUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import {
  type Actor,
  redactAnswer,
  isEventAbout,
  type JsonObject,
  addressPatternInNames,
  addressPattern,
  addressSpellings,
} from '@posthorn/domain';
import { awaitStandby } from '../await-standby.ts';
import type { Database } from '../connection.ts';
import { ERASURE_RULES } from '../erasure-rules.ts';
import { AdaptiveGroupSize } from '../adaptive-group-size.ts';
import {
  COLUMNS_OF,
  EMAILS_TO,
  endOfGroup,
  EVENTS_NAMING,
  FORGET_PERSON,
  KEYS_NAMING,
} from '../sql/erasure.ts';
import { countGroup, endOfKeys, type LookedThrough, redactGroup, type TextColumn } from '../sql/redaction.ts';
import { transactOn } from '../transaction.ts';
import { recordAudit } from './audit-log-store.ts';
import {
  cancelScheduled,
  type EmailTo,
  type ErasedRows,
  erasedRows,
  type EventAbout,
  NOTHING_ERASED,
  removeEmailsOn,
  removeEventsOn,
} from './erased-rows.ts';
import type { TableCounts } from './removed-rows.ts';

const GROUP = 2_000;

/** The person to erase, and where. */
export interface PersonToErase {
  /** Its domain in lower-case ASCII. */
  readonly address: string;
  /** Null: everywhere. */
  readonly workspaceId: WorkspaceId | null;
}

/** The result of one group of rows, and its last position. */
interface ErasedGroup {
  readonly end: string;
  readonly rows: ErasedRows;
}

/** The progress of redaction in a table. */
interface Redaction {
  readonly looked: LookedThrough;
  readonly person: readonly unknown[];
  readonly counts: { redacted: number; left: number };
}

/** Erases a person. Each step is a transaction of its own, and may be interrupted, repeated, or run concurrently. */
export class ErasureStore {
  private readonly sizes = { emails: new AdaptiveGroupSize(), events: new AdaptiveGroupSize() };

  constructor(private readonly database: Database) {}

  /** By the clock of the database. */
  now(): Date {
    return this.database.clock.now();
  }

  /**
   * Deletes what workspaces know about the person; keeps a hash of the address where nothing may be sent to it. `suppress`: everywhere.
   *
   * @returns also the workspaces that keep a hash
   */
  async forget(
    { address, workspaceId }: PersonToErase,
    suppress: boolean,
  ): Promise<{ rows: ErasedRows; remembered: WorkspaceId[] }> {
    const { rows } = await this.database.pool.query<ForgottenRow>(FORGET_PERSON, [
      address,
      workspaceId && uuidOf(workspaceId),
      suppress,
    ]);
    const { remembered, workspaceIds, deleted } = rows[0]!;
    return {
      rows: erasedRows(deleted, 0, 0, workspaceIds ?? []),
      remembered: remembered.map((uuid) => idFromUuid('wrk', uuid)),
    };
  }

  /** Removes the emails to the person among the next ones after an id; undefined: there are no more. */
  removeEmails(
    { address, workspaceId }: PersonToErase,
    after: string = FIRST_ID,
  ): Promise<ErasedGroup | undefined> {
    // Also by attempts that ran out of time afterwards.
    let cancelled = 0;
    return this.sizes.emails.run(GROUP, async (max) => {
      const end = await this.endOf('emails', after, max);
      if (end === undefined) return undefined;
      const values = [after, end, address, workspaceId && uuidOf(workspaceId)];
      const { rows } = await this.database.pool.query<EmailTo>(EMAILS_TO, values);
      if (rows.length === 0) return { end, rows: NOTHING_ERASED };
      cancelled += await cancelScheduled(this.database.pool, rows);
      const removed = await transactOn(this.database, (client) => removeEmailsOn(client, rows));
      return { end, rows: { ...removed, cancelled: removed.cancelled + cancelled } };
    });
  }

  /** Removes the events that are about the person among the next ones after an id, with their deliveries; undefined: there are no more. */
  removeEvents(
    { address, workspaceId }: PersonToErase,
    after: string = FIRST_ID,
  ): Promise<ErasedGroup | undefined> {
    return this.sizes.events.run(GROUP, async (max) => {
      const end = await this.endOf('events', after, max);
      if (end === undefined) return undefined;
      const values = [after, end, ...namesOf(address), workspaceId && uuidOf(workspaceId)];
      const { rows } = await this.database.pool.query<EventAbout>(EVENTS_NAMING, values);
      const about = rows.filter(({ payload }) => isEventAbout(payload, address));
      if (about.length === 0) return { end, rows: NOTHING_ERASED };
      return { end, rows: await transactOn(this.database, (client) => removeEventsOn(client, about)) };
    });
  }

  /** Redacts the person in the stored answers of idempotency keys, and deletes keys that name them. @returns how many */
  async redactAnswers({
    address,
    workspaceId,
  }: PersonToErase): Promise<{ redacted: number; deleted: number }> {
    const counts = { redacted: 0, deleted: 0 };
    const inNames = addressPatternInNames(addressSpellings(address));
    const size = new AdaptiveGroupSize();
    let after: readonly [string, string] = [FIRST_ID, ''];
    for (;;) {
      const person = [...namesOf(address), workspaceId && uuidOf(workspaceId), ...after];
      const { rows, isLast } = await size.run(GROUP, async (max) => {
        const found = await this.database.pool.query<FoundKey>(KEYS_NAMING, [...person, max, inNames]);
        return { rows: found.rows, isLast: found.rows.length < max };
      });
      for (const row of rows) {
        const done = await this.redactAnswer(row, address);
        if (done !== undefined) counts[done] += 1;
      }
      const last = rows.at(-1);
      if (last === undefined || isLast) return counts;
      after = [last.workspaceId, last.key];
    }
  }

  /** Replaces the address by `[erased]` in a table, if its rule allows that. @returns how many rows were changed, and how many still name the person */
  async redact(
    table: string,
    { address, workspaceId }: PersonToErase,
  ): Promise<{ redacted: number; left: number }> {
    const rule = ERASURE_RULES[table]!;
    const counts = { redacted: 0, left: 0 };
    if (workspaceId !== null && rule.scope === undefined) return counts;
    const { rows: columns } = await this.database.pool.query<TextColumn>(COLUMNS_OF, [table]);
    const looked = { table, rule, columns };
    if (countGroup(looked, true) === undefined) return counts;
    const redaction = { looked, person: [...namesOf(address), workspaceId && uuidOf(workspaceId)], counts };
    const size = new AdaptiveGroupSize();
    for (let start: readonly string[] | undefined = []; start !== undefined;) {
      const after: readonly string[] = start;
      start = await size.run(rule.group ?? GROUP, (max) => this.redactNext(redaction, after, max));
    }
    return counts;
  }

  /** Records the erasure in the audit log of a workspace, without identifying the person. */
  record(workspaceId: WorkspaceId, actor: Actor, detail: JsonObject): Promise<void> {
    const change = {
      workspaceId,
      actor,
      action: 'recipient.erased',
      subjectId: workspaceId,
      detail,
    } as const;
    return transactOn(this.database, (client) => recordAudit(client, this.database.clock.nowMs(), change));
  }

  /** Waits until a failover brings back nothing that is erased, by an earlier run either. */
  confirm(): Promise<void> {
    return awaitStandby(this.database.pool);
  }

  private async endOf(table: 'emails' | 'events', after: string, max: number): Promise<string | undefined> {
    const { rows } = await this.database.pool.query<{ id: string | null }>(endOfGroup(table), [after, max]);
    return rows[0]!.id ?? undefined;
  }

  /** Undefined: neither the key nor its current answer names the person. */
  private async redactAnswer(
    { workspaceId, key, isNamed, answer }: FoundKey,
    address: string,
  ): Promise<'redacted' | 'deleted' | undefined> {
    const { pool } = this.database;
    const which = 'workspace_id = $1::uuid AND key = $2::text';
    if (isNamed) {
      await pool.query(`DELETE FROM idempotency_keys WHERE ${which}`, [workspaceId, key]);
      return 'deleted';
    }
    if (answer === null) return undefined;
    const redacted = redactAnswer(answer, address);
    // Unless another call has taken the key since it expired.
    const { rowCount } = await pool.query(
      `UPDATE idempotency_keys SET answer = $3 WHERE ${which} AND answer = $4`,
      [workspaceId, key, redacted, answer],
    );
    return rowCount === 0 ? undefined : 'redacted';
  }

  /** Redacts the next rows after a key. @returns the key of the last one */
  private async redactNext(
    { looked, person, counts }: Redaction,
    start: readonly string[],
    max: number,
  ): Promise<string[] | undefined> {
    const { pool } = this.database;
    const isFirst = start.length === 0;
    const { rows } = await pool.query<{ key: string[] }>(endOfKeys(looked, isFirst), [max, ...start]);
    const end = rows[0]?.key;
    if (end === undefined) return undefined;
    const values = [...person, ...end, ...start];
    const countNow = async (): Promise<number> =>
      (await pool.query<{ count: number }>(countGroup(looked, isFirst)!, values)).rows[0]!.count;
    const found = await countNow();
    const redacting = looked.rule.how === 'redacted' ? redactGroup(looked, isFirst) : undefined;
    if (found === 0 || redacting === undefined) counts.left += found;
    else {
      counts.redacted += (await pool.query(redacting, values)).rowCount ?? 0;
      counts.left += await countNow();
    }
    return end;
  }
}

interface ForgottenRow {
  readonly deleted: TableCounts;
  readonly remembered: readonly string[];
  readonly workspaceIds: string[] | null;
}

interface FoundKey {
  readonly workspaceId: string;
  readonly key: string;
  /** Whether the key itself names the person. */
  readonly isNamed: boolean;
  /** Null: it does not name the person, or there is none. */
  readonly answer: string | null;
}

function namesOf(address: string): [string[], string] {
  const spellings = addressSpellings(address);
  return [spellings, addressPattern(spellings)];
}
