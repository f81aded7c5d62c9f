import {
  type EmailId,
  idFromUuid,
  type Id,
  newUuid,
  timeOf,
  uuidOf,
  type WorkspaceId,
} from '@posthorn/kernel';
import {
  type Actor,
  type AuditedAction,
  type JsonObject,
  type Page,
  pageOf,
  type PageRequest,
} from '@posthorn/domain';
import type pg from 'pg';
import type { Database } from '../connection.ts';
import type { AuditEntry as AuditRow } from '../generated/client.ts';
import type { Transaction } from '../transaction.ts';

/** A change as it is told to the log: who did what to which thing. */
export interface AuditedChange {
  readonly workspaceId: WorkspaceId;
  readonly action: AuditedAction;
  readonly actor: Actor;
  readonly subjectId: Id<string>;
  /** What changed; nothing secret. */
  readonly detail?: JsonObject;
}

/** A change as the log shows it. */
export interface AuditEntry {
  readonly id: Id<'aud'>;
  readonly action: string;
  readonly actor: Actor;
  readonly subjectId: string;
  readonly detail: JsonObject;
  readonly createdAt: Date;
}

/** Which changes are wanted; all where nothing is said. */
export interface AuditLogFilter {
  readonly action?: AuditedAction | undefined;
  /** What was changed. */
  readonly subjectId?: string | undefined;
  /** The email that was sent again; with its action, the entries of that are looked through. */
  readonly copyOf?: EmailId | undefined;
}

/** Writes a change into the log, in the transaction that makes it. `nowMs` is the database's time. */
export async function recordAudit(
  transaction: Transaction,
  nowMs: number,
  { workspaceId, action, actor, subjectId, detail = {} }: AuditedChange,
): Promise<void> {
  await transaction.auditEntry.create({
    data: {
      id: newUuid(nowMs),
      workspaceId: uuidOf(workspaceId),
      action,
      actor: { ...actor },
      subjectId,
      detail: detail,
      at: new Date(nowMs),
    },
  });
}

/** $1 json: id, workspace_id, action, actor, subject_id, detail, at. Locks: the new rows. */
const RECORD_AUDITS = `
INSERT INTO audit_log (id, workspace_id, action, actor, subject_id, detail, at)
SELECT a.id, a.workspace_id, a.action, a.actor, a.subject_id, a.detail, a.at
FROM   json_to_recordset($1::json) AS a (
         id uuid, workspace_id uuid, action text, actor jsonb, subject_id text, detail jsonb, at timestamptz)`;

/** The same in a transaction on a connection of its own. */
export async function recordAuditOn(
  client: pg.ClientBase,
  nowMs: number,
  ...changes: readonly AuditedChange[]
): Promise<void> {
  const at = new Date(nowMs);
  const rows = changes.map(({ workspaceId, action, actor, subjectId, detail = {} }) => ({
    ...{ id: newUuid(nowMs), workspace_id: uuidOf(workspaceId), action, actor },
    ...{ subject_id: subjectId, detail, at },
  }));
  await client.query(RECORD_AUDITS, [JSON.stringify(rows)]);
}

/** Who changed what. */
export class AuditLogStore {
  constructor(private readonly database: Database) {}

  /** A page of a workspace's changes. Indexes: audit_log_by_workspace_idx, _by_action_idx, _by_subject_idx. */
  async list(
    workspaceId: WorkspaceId,
    page: PageRequest<Id<'aud'>>,
    { action, subjectId, copyOf }: AuditLogFilter = {},
  ): Promise<Page<AuditEntry>> {
    const isAscending = page.sort === 'createdAt.asc';
    const start = page.startAt === undefined ? undefined : uuidOf(page.startAt);
    const rows = await this.database.prisma.auditEntry.findMany({
      where: {
        workspaceId: uuidOf(workspaceId),
        ...(action === undefined ? {} : { action }),
        ...(subjectId === undefined ? {} : { subjectId }),
        // No copy is older than what it repeats.
        ...(copyOf === undefined
          ? {}
          : { detail: { path: ['copyOf'], equals: copyOf }, at: { gte: new Date(timeOf(copyOf)) } }),
        ...(start === undefined ? {} : { id: isAscending ? { gte: start } : { lte: start } }),
      },
      orderBy: { id: isAscending ? 'asc' : 'desc' },
      take: page.limit + 1,
    });
    return pageOf(rows.map(auditEntry), page.limit);
  }
}

function auditEntry({ id, action, actor, subjectId, detail, at }: AuditRow): AuditEntry {
  return {
    id: idFromUuid('aud', id),
    action,
    actor: actor as unknown as Actor,
    subjectId,
    detail: detail as JsonObject,
    createdAt: at,
  };
}
