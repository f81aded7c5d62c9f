import {
  idFromUuid,
  type Id,
  newUuid,
  SYSTEM_WORKSPACE_ID,
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
import { type AnyTransaction, runSql } from '../../transactions/transaction.ts';
import { type AuditLogFilter, listAuditLog, RECORD_AUDITS } from '../../sql/audit-log.ts';
import type { RowOf } from '../row-of.ts';

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

type AuditRow = RowOf<AuditEntry, 'id'>;

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
  await runSql(transaction, RECORD_AUDITS, [JSON.stringify(rows)]);
}

/** Reads the audit log. */
export class AuditLogStore {
  constructor(private readonly database: Database) {}

  /** A page of a workspace's changes, in their order. */
  async list(
    workspaceId: WorkspaceId,
    page: PageRequest<Id<'aud'>>,
    filter: AuditLogFilter = {},
  ): Promise<Page<AuditEntry>> {
    const { rows } = await this.database.pool.query<AuditRow>(listAuditLog(workspaceId, page, filter));
    return pageOf(
      rows.map((row) => ({ ...row, id: idFromUuid('aud', row.id) })),
      page.limit,
    );
  }
}
