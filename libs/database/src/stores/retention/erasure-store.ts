import { FIRST_ID, idFromUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, isEventAbout, type JsonObject } from '@posthorn/domain';
import type pg from 'pg';
import { AdaptiveGroupSize } from '../../transactions/adaptive-group-size.ts';
import { awaitStandby } from '../../transactions/await-standby.ts';
import type { Database } from '../../connection/connection.ts';
import { CANCEL_EMAIL } from '../../sql/email-changes.ts';
import { EMAILS_TO, endOfGroup, EVENTS_NAMING, FORGET_PERSON } from '../../sql/erasure.ts';
import { transactOn } from '../../transactions/transaction.ts';
import { addressHash } from '../mail-refusal.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';
import { namesOf, type OnSearched, type PersonToErase, redactAnswers, redactTable } from './redaction.ts';
import { removeEmails, removeEvents, type RemovedRows } from './removed-rows.ts';
import type { TableCounts } from './table-counts.ts';

const GROUP = 2_000;

/** What one step did to a person's rows. */
export interface ErasedRows extends RemovedRows {
  readonly workspaceIds: readonly WorkspaceId[];
}

/** An erasure that is recorded in the audit log of each workspace that it reaches. */
export interface ErasureRun {
  readonly actor: Actor;
  /** The workspaces whose logs have its beginning already. */
  readonly workspaceIds: ReadonlySet<WorkspaceId>;
}

/** A group of rows that is searched together. */
interface SearchedGroup {
  /** The last position. */
  readonly end: string;
  readonly searched: number;
}

/** The result of one group of rows. */
interface ErasedGroup extends ErasedRows, SearchedGroup {}

const NOTHING_ERASED: ErasedRows = { deleted: {}, cancelled: 0, inProgress: 0, workspaceIds: [] };

/**
 * Erases a person. Each step is a transaction of its own, and may be interrupted, repeated, or run concurrently. The transaction also records the beginning of
 * the run in the workspaces that it is the first to reach: nothing would be found there again.
 */
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
    run: ErasureRun,
  ): Promise<ErasedRows & { readonly remembered: readonly WorkspaceId[] }> {
    const values = [address, workspaceId && uuidOf(workspaceId), suppress, addressHash(address)];
    return transactOn(this.database, async (client) => {
      const { rows } = await client.query<ForgottenRow>(FORGET_PERSON, values);
      const { remembered, deleted } = rows[0]!;
      const workspaceIds = workspaceIdsOf(rows[0]!.workspaceIds);
      await this.recordBegun(client, workspaceIds, run);
      return { ...NOTHING_ERASED, deleted, workspaceIds, remembered: workspaceIdsOf(remembered) };
    });
  }

  /** Removes the emails to the person among the next ones after an id; undefined: there are no more. */
  removeEmails(
    { address, workspaceId }: PersonToErase,
    run: ErasureRun,
    after: string = FIRST_ID,
  ): Promise<ErasedGroup | undefined> {
    // Also by attempts that ran out of time afterwards; the next one examines fewer emails, of which none may be to the person.
    let cancelled = 0;
    const reached = new Set(run.workspaceIds);
    const ofRun = { ...run, workspaceIds: reached };
    return this.sizes.emails.run(GROUP, async (max) => {
      const group = await this.nextGroup('emails', after, max);
      if (group === undefined) return undefined;
      const values = [after, group.end, address, workspaceId && uuidOf(workspaceId)];
      const { rows } = await this.database.pool.query<EmailTo>(EMAILS_TO, values);
      if (rows.length === 0) return { ...NOTHING_ERASED, ...group, cancelled };
      for (const email of rows) {
        if (!(await this.cancelIfScheduled(email, ofRun))) continue;
        cancelled += 1;
        reached.add(idFromUuid('wrk', email.workspaceId));
      }
      const removed = await this.remove(rows, removeEmails, ofRun);
      return { ...removed, ...group, cancelled: removed.cancelled + cancelled };
    });
  }

  /** Removes the events that are about the person among the next ones after an id, with their deliveries; undefined: there are no more. */
  removeEvents(
    { address, workspaceId }: PersonToErase,
    run: ErasureRun,
    after: string = FIRST_ID,
  ): Promise<ErasedGroup | undefined> {
    return this.sizes.events.run(GROUP, async (max) => {
      const group = await this.nextGroup('events', after, max);
      if (group === undefined) return undefined;
      const values = [after, group.end, ...namesOf(address), workspaceId && uuidOf(workspaceId)];
      const { rows } = await this.database.pool.query<EventNaming>(EVENTS_NAMING, values);
      const about = rows.filter(({ payload }) => isEventAbout(payload, address));
      if (about.length === 0) return { ...NOTHING_ERASED, ...group };
      return { ...(await this.remove(about, removeEvents, run)), ...group };
    });
  }

  /** Redacts the person in the stored answers of idempotency keys, and deletes keys that name them. @returns how many */
  redactAnswers(
    person: PersonToErase,
    onSearched?: OnSearched,
  ): Promise<{ redacted: number; deleted: number }> {
    return redactAnswers(this.database.pool, person, onSearched);
  }

  /** Replaces the address by `[erased]` in a table, if its rule allows that. @returns how many rows were changed, and how many still name the person */
  redact(
    table: string,
    person: PersonToErase,
    onSearched?: OnSearched,
  ): Promise<{ redacted: number; left: number }> {
    return redactTable(this.database.pool, table, person, onSearched);
  }

  /** Records the erasure in the audit logs of workspaces, without identifying the person. */
  record(workspaceIds: Iterable<WorkspaceId>, actor: Actor, detail: JsonObject): Promise<void> {
    return transactOn(this.database, (client) => this.recordIn(client, [...workspaceIds], actor, detail));
  }

  /** Waits until a failover brings back nothing that is erased, by an earlier run either. */
  confirm(): Promise<void> {
    return awaitStandby(this.database.pool);
  }

  /**
   * Cancels an email if it is scheduled, so that it does not count towards the monthly limit any more. Not in the transaction that removes emails, because
   * accepting waits for the usage row that this locks.
   *
   * @returns whether it did
   */
  private async cancelIfScheduled({ id, workspaceId, status }: EmailTo, run: ErasureRun): Promise<boolean> {
    if (status !== 'SCHEDULED') return false;
    return transactOn(this.database, async (client) => {
      const isCancelled = (await client.query(CANCEL_EMAIL, [id, workspaceId])).rowCount === 1;
      if (isCancelled) await this.recordBegun(client, [idFromUuid('wrk', workspaceId)], run);
      return isCancelled;
    });
  }

  private async remove(
    rows: readonly OwnedRow[],
    remove: typeof removeEmails,
    run: ErasureRun,
  ): Promise<ErasedRows> {
    const workspaceIds = workspaceIdsOf(rows.map(({ workspaceId }) => workspaceId));
    const ids = rows.map(({ id }) => id);
    const removed = await transactOn(this.database, async (client) => {
      await this.recordBegun(client, workspaceIds, run);
      return remove(client, ids);
    });
    return { ...removed, workspaceIds };
  }

  private async recordBegun(
    client: pg.ClientBase,
    reached: readonly WorkspaceId[],
    run: ErasureRun,
  ): Promise<void> {
    const first = reached.filter((id) => !run.workspaceIds.has(id));
    if (first.length > 0) await this.recordIn(client, first, run.actor, { begun: true });
  }

  /** Skips workspaces that were deleted meanwhile. Index: workspaces_pkey. Locks: the workspaces, against being deleted. */
  private async recordIn(
    client: pg.ClientBase,
    workspaceIds: readonly WorkspaceId[],
    actor: Actor,
    detail: JsonObject,
  ): Promise<void> {
    const { rows } = await client.query<{ id: string }>(
      'SELECT id FROM workspaces WHERE id = ANY ($1::uuid[]) ORDER BY id FOR KEY SHARE',
      [workspaceIds.map(uuidOf)],
    );
    const changes = workspaceIdsOf(rows.map(({ id }) => id)).map(
      (id) => ({ workspaceId: id, subjectId: id, action: 'recipient.erased', actor, detail }) as const,
    );
    await recordAudit(client, this.database.clock.nowMs(), ...changes);
  }

  private async nextGroup(
    table: 'emails' | 'events',
    after: string,
    max: number,
  ): Promise<SearchedGroup | undefined> {
    return (await this.database.pool.query<SearchedGroup>(endOfGroup(table), [after, max])).rows[0];
  }
}

interface ForgottenRow {
  readonly deleted: TableCounts;
  readonly remembered: readonly string[];
  readonly workspaceIds: readonly string[];
}

interface OwnedRow {
  readonly id: string;
  readonly workspaceId: string;
}

interface EmailTo extends OwnedRow {
  readonly status: string;
}

interface EventNaming extends OwnedRow {
  readonly payload: string;
}

function workspaceIdsOf(uuids: readonly string[]): WorkspaceId[] {
  return [...new Set(uuids)].map((uuid) => idFromUuid('wrk', uuid));
}
