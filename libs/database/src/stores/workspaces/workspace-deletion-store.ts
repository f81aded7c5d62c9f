import { FIRST_ID, SYSTEM_WORKSPACE_ID, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, type JsonObject, pausableLanes } from '@posthorn/domain';
import type pg from 'pg';
import { AdaptiveGroupSize } from '../../transactions/adaptive-group-size.ts';
import { awaitStandby } from '../../transactions/await-standby.ts';
import type { Database } from '../../connection/connection.ts';
import { faultOf } from '../../faults/faults.ts';
import { NEXT_EVENTS } from '../../sql/retention.ts';
import {
  firstOf,
  FORGET_PAUSES,
  HAS_ANY,
  LARGE_TABLES,
  type LargeTable,
  LOCK_USERS,
  LOCK_WEBHOOKS,
  LOCK_WORKSPACE,
  NEXT_EMAILS,
  PAUSE_LANES,
  REMOVE_ACCESS,
  REMOVE_FORMER_MEMBERS,
  REMOVE_MEMBERS,
  REMOVE_OLD_VERSIONS,
  REMOVE_TEMPLATES,
  REMOVE_WORKSPACE,
  removeNext,
} from '../../sql/workspace-deletion.ts';
import { transactOn } from '../../transactions/transaction.ts';
import { type AuditedChange, recordAudit } from './audit-log-store.ts';
import { findBegunDeletions, isBeingDeleted } from './begun-deletions.ts';
import {
  idsOf,
  removeEmails,
  removeEvents,
  type RemovedRows,
  removeFrom,
} from '../retention/removed-rows.ts';
import { addCounts, type TableCounts } from '../retention/table-counts.ts';

const GROUP = 500;
const WHY_PAUSED = 'The workspace is being deleted';

/** A position among the emails of a workspace, its events, or the rows of its other tables. */
type DeletionPosition = readonly unknown[];

/** The result of one group, and its last position. */
interface DeletedGroup extends RemovedRows {
  readonly end: DeletionPosition;
}

interface RemovedNext {
  readonly end: unknown;
  readonly removed: number;
}

/** Where the removal of a table's rows begins. */
const startOf = (table: LargeTable): DeletionPosition => [table, firstOf(table)];

/** A group of rows that nobody processes. */
const removedAlone = (deleted: TableCounts, end: DeletionPosition = []): DeletedGroup => ({
  deleted,
  cancelled: 0,
  inProgress: 0,
  end,
});

/** Something was added to the workspace while its last rows were being removed. */
class NotEmpty extends Error {}

/** Deletes a workspace. Each step is a transaction of its own, and may be interrupted, repeated, or run concurrently. */
export class WorkspaceDeletionStore {
  private readonly sizes = {
    emails: new AdaptiveGroupSize(),
    events: new AdaptiveGroupSize(),
    rows: new AdaptiveGroupSize(),
    templates: new AdaptiveGroupSize(),
  };

  constructor(private readonly database: Database) {}

  /** By the clock of the database. */
  now(): Date {
    return this.database.clock.now();
  }

  /** Whether the deletion of this workspace has begun. */
  isBegun(workspaceId: WorkspaceId): Promise<boolean> {
    return isBeingDeleted(this.database.prisma, workspaceId);
  }

  /** When the deletions of workspaces began, by their ids; also those of workspaces that are gone. */
  begun(): Promise<ReadonlyMap<string, Date>> {
    return findBegunDeletions(this.database.prisma);
  }

  /**
   * Closes the workspace: keys, links and members' access end, its emails are paused, and its webhooks are told nothing more. Records it in the system's audit log.
   *
   * @returns how many rows were deleted, by table
   */
  close(workspaceId: WorkspaceId, actor: Actor, detail: JsonObject): Promise<TableCounts> {
    return transactOn(this.database, async (client) => {
      await client.query(LOCK_WORKSPACE, [uuidOf(workspaceId)]);
      await client.query(PAUSE_LANES, [pausableLanes(workspaceId), WHY_PAUSED]);
      const deleted = await removeAccess(client, workspaceId);
      await this.record(client, {
        action: 'workspace.deletion_begun',
        subjectId: workspaceId,
        actor,
        detail,
      });
      return deleted;
    });
  }

  /** Removes the next emails after a position, even if they are due; undefined: there are no more. */
  removeEmails(
    workspaceId: WorkspaceId,
    after: DeletionPosition = [FIRST_ID],
  ): Promise<DeletedGroup | undefined> {
    return this.sizes.emails.run(GROUP, (max) =>
      transactOn(this.database, async (client) => {
        const ids = await idsOf(client, NEXT_EMAILS, [uuidOf(workspaceId), ...after, max]);
        return ids.length === 0 ? undefined : { end: [ids.at(-1)], ...(await removeEmails(client, ids)) };
      }),
    );
  }

  /** Removes the next events after a position, with their deliveries, even if they are due; undefined: there are no more. */
  removeEvents(
    workspaceId: WorkspaceId,
    after: DeletionPosition = [0, '0', FIRST_ID],
  ): Promise<DeletedGroup | undefined> {
    return this.sizes.events.run(GROUP, (max) =>
      transactOn(this.database, async (client) => {
        const values = [uuidOf(workspaceId), ...after, 0, max];
        const { rows } = await client.query<{ id: string; era: number; xid: string }>(NEXT_EVENTS, values);
        const last = rows.at(-1);
        if (last === undefined) return undefined;
        const ids = rows.map(({ id }) => id);
        return { end: [last.era, last.xid, last.id], ...(await removeEvents(client, ids)) };
      }),
    );
  }

  /** Removes the next rows of other tables that can have very many, table by table, after a position; undefined: there are no more. */
  async removeRows(
    workspaceId: WorkspaceId,
    after: DeletionPosition = startOf(LARGE_TABLES[0]!),
  ): Promise<DeletedGroup | undefined> {
    const [table, key] = after as [LargeTable, unknown];
    const { rows } = await this.sizes.rows.run(GROUP, (max) =>
      this.database.pool.query<RemovedNext>(removeNext(table), [uuidOf(workspaceId), key, max]),
    );
    if (rows[0] !== undefined) return removedAlone({ [table]: rows[0].removed }, [table, rows[0].end]);
    const next = LARGE_TABLES[LARGE_TABLES.indexOf(table) + 1];
    return next && this.removeRows(workspaceId, startOf(next));
  }

  /** Removes older versions of templates, or else templates; undefined: there are no more. */
  async removeTemplates(workspaceId: WorkspaceId): Promise<DeletedGroup | undefined> {
    const removeSome = (statement: string): Promise<number> =>
      this.sizes.templates.run(
        GROUP,
        async (max) => (await this.database.pool.query(statement, [uuidOf(workspaceId), max])).rowCount ?? 0,
      );
    const versions = await removeSome(REMOVE_OLD_VERSIONS);
    if (versions > 0) return removedAlone({ template_versions: versions });
    const templates = await removeSome(REMOVE_TEMPLATES);
    return templates > 0 ? removedAlone({ templates, template_versions: templates }) : undefined;
  }

  /**
   * Removes what is left, and the workspace itself, and records it in the system's audit log.
   *
   * @returns how many rows were deleted, by table; undefined: a call that had begun earlier has added something, so nothing was changed
   */
  async finish(workspaceId: WorkspaceId, actor: Actor, detail: JsonObject): Promise<TableCounts | undefined> {
    try {
      return await transactOn(this.database, async (client) => {
        const id = uuidOf(workspaceId);
        const deleted = await removeAccess(client, workspaceId);
        addCounts(deleted, await removeFrom(client, REMOVE_WORKSPACE, [id]));
        const pauses = await client.query(FORGET_PAUSES, [pausableLanes(workspaceId)]);
        addCounts(deleted, { paused_lanes: pauses.rowCount ?? 0 });
        const { rows } = await client.query<{ hasAny: boolean }>(HAS_ANY, [id]);
        if (rows[0]!.hasAny) throw new NotEmpty();
        if (deleted['workspaces'] === 1)
          await this.record(client, { action: 'workspace.deleted', subjectId: workspaceId, actor, detail });
        else await awaitStandby(client);
        return deleted;
      });
    } catch (error) {
      // A foreign key's violation, a deadlock with the call that adds something, or a lock that it holds for long.
      if (error instanceof NotEmpty || ['data', 'conflict', 'locked'].includes(faultOf(error)))
        return undefined;
      throw error;
    }
  }

  private record(client: pg.ClientBase, change: Omit<AuditedChange, 'workspaceId'>): Promise<void> {
    return recordAudit(client, this.database.clock.nowMs(), { workspaceId: SYSTEM_WORKSPACE_ID, ...change });
  }
}

async function removeAccess(client: pg.ClientBase, workspaceId: WorkspaceId): Promise<TableCounts> {
  const id = uuidOf(workspaceId);
  await client.query(LOCK_WEBHOOKS, [id]);
  const deleted = await removeFrom(client, REMOVE_ACCESS, [id]);
  const members = await idsOf(client, REMOVE_MEMBERS, [id]);
  await client.query(LOCK_USERS, [members]);
  const users = (await client.query(REMOVE_FORMER_MEMBERS, [members])).rowCount ?? 0;
  return { ...deleted, memberships: members.length, users };
}
