import {
  type EmailId,
  idFromUuid,
  type Id,
  leastUuid,
  newUuid,
  SYSTEM_WORKSPACE_ID,
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
import type { Database } from '../../connection/connection.ts';
import type { AnyTransaction } from '../events/record-events.ts';
import type { CreatedBetween } from '../../sql/statement.ts';
import type { AuditEntry as AuditRow } from '../../generated/client.ts';
import { prismaPage } from '../prisma-page.ts';

/** A change to be recorded: who did what to which object. */
export interface AuditedChange {
  readonly workspaceId: WorkspaceId;
  readonly action: AuditedAction;
  readonly actor: Actor;
  readonly subjectId: Id<string>;
  /** What changed; must not contain secrets. */
  readonly detail?: JsonObject;
}

/** A change of the whole installation, recorded in the log of the system's own workspace. */
export function ofSystem(action: AuditedAction, actor: Actor, detail: JsonObject): AuditedChange {
  return { workspaceId: SYSTEM_WORKSPACE_ID, subjectId: SYSTEM_WORKSPACE_ID, action, actor, detail };
}

/** An entry of the log. */
export interface AuditEntry {
  readonly id: Id<'aud'>;
  readonly action: string;
  readonly actor: Actor;
  readonly subjectId: string;
  readonly detail: JsonObject;
  readonly createdAt: Date;
}

/** Filters for changes; absent ones match all. */
export interface AuditLogFilter extends CreatedBetween {
  readonly action?: AuditedAction | undefined;
  /** The object that was changed. */
  readonly subjectId?: string | undefined;
  /** The email that was sent again; combined with its action, the entries of that action since the email are scanned. */
  readonly copyOf?: EmailId | undefined;
}

/** $1 json: id, workspace_id, action, actor, subject_id, detail, at. Locks: the new rows. */
const RECORD_AUDITS = `
INSERT INTO audit_log (id, workspace_id, action, actor, subject_id, detail, at)
SELECT a.id, a.workspace_id, a.action, a.actor, a.subject_id, a.detail, a.at
FROM   json_to_recordset($1::json) AS a (
         id uuid, workspace_id uuid, action text, actor jsonb, subject_id text, detail jsonb, at timestamptz)`;

/** Records changes in the transaction that makes them. `nowMs` is the database's time. */
export async function recordAudit(
  transaction: AnyTransaction,
  nowMs: number,
  ...changes: readonly AuditedChange[]
): Promise<void> {
  const at = new Date(nowMs);
  const rows = changes.map(({ workspaceId, action, actor, subjectId, detail = {} }) => ({
    id: newUuid(nowMs),
    workspace_id: uuidOf(workspaceId),
    action,
    actor,
    subject_id: subjectId,
    detail,
    at,
  }));
  const json = JSON.stringify(rows);
  if ('$executeRawUnsafe' in transaction) await transaction.$executeRawUnsafe(RECORD_AUDITS, json);
  else await transaction.query(RECORD_AUDITS, [json]);
}

/** Reads the audit log. */
export class AuditLogStore {
  constructor(private readonly database: Database) {}

  /**
   * A page of a workspace's changes. Indexes: audit_log_by_workspace_idx, _by_action_idx, _by_subject_idx; times are converted to limits of
   * the id, which is the last column of each.
   */
  async list(
    workspaceId: WorkspaceId,
    page: PageRequest<Id<'aud'>>,
    { action, subjectId, copyOf, createdAfter, createdBefore }: AuditLogFilter = {},
  ): Promise<Page<AuditEntry>> {
    const rows = await this.database.prisma.auditEntry.findMany(
      prismaPage(page, {
        workspaceId: uuidOf(workspaceId),
        ...(action === undefined ? {} : { action }),
        ...(subjectId === undefined ? {} : { subjectId }),
        ...(copyOf === undefined ? {} : { detail: { path: ['copyOf'], equals: copyOf } }),
        AND: [
          // A copy is never older than its original.
          copyOf === undefined ? {} : { id: { gte: leastUuid(timeOf(copyOf)) } },
          createdAfter === undefined ? {} : { id: { gte: leastUuid(createdAfter.getTime()) } },
          createdBefore === undefined ? {} : { id: { lt: leastUuid(createdBefore.getTime()) } },
        ],
      }),
    );
    return pageOf(rows.map(auditEntryOf), page.limit);
  }
}

function auditEntryOf({ id, action, actor, subjectId, detail, at }: AuditRow): AuditEntry {
  return {
    id: idFromUuid('aud', id),
    action,
    actor: actor as unknown as Actor,
    subjectId,
    detail: detail as JsonObject,
    createdAt: at,
  };
}
