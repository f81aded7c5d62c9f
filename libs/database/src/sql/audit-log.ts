import { type EmailId, type Id, timeOf, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { AuditedAction, PageRequest } from '@posthorn/domain';
import { type CreatedBetween, equalityOf, pageStatement, type Statement, Values } from './statement.ts';

/** $1 json: id, workspace_id, action, actor, subject_id, detail, at. Locks: the new rows. */
export const RECORD_AUDITS = `
INSERT INTO audit_log (id, workspace_id, action, actor, subject_id, detail, at)
SELECT a.id, a.workspace_id, a.action, a.actor, a.subject_id, a.detail, a.at
FROM   json_to_recordset($1::json) AS a (
         id uuid, workspace_id uuid, action text, actor jsonb, subject_id text, detail jsonb, at timestamptz)`;

/** Filters for changes; absent ones match all. */
export interface AuditLogFilter extends CreatedBetween {
  readonly action?: AuditedAction | undefined;
  /** The object that was changed. */
  readonly subjectId?: string | undefined;
  /** The email that was sent again; combined with its action, the entries of that action since the email are scanned. */
  readonly copyOf?: EmailId | undefined;
}

/**
 * A page of a workspace's changes. Index: audit_log_by_subject_idx with a subject, else audit_log_by_action_idx with an action, else audit_log_by_workspace_idx,
 * in its order (see {@link inIndexOrder}). Locks: none.
 */
export function listAuditLog(
  workspaceId: WorkspaceId,
  page: PageRequest<Id<'aud'>>,
  { action, subjectId, copyOf, createdAfter, createdBefore }: AuditLogFilter,
): Statement {
  const values = new Values();
  const ofWorkspace = { column: 'workspace_id', value: values.add(uuidOf(workspaceId), 'uuid') };
  // No index has both.
  const [indexed, filtered] = [
    ...values.given(subjectId, 'text', (value) => ({ column: 'subject_id', value })),
    ...values.given(action, 'text', (value) => ({ column: 'action', value })),
  ];
  const copies = values.given(copyOf, 'text', (original) => `detail ->> 'copyOf' = ${original}`);
  // A copy is never older than its original.
  const sinceMs = Math.max(createdAfter?.getTime() ?? 0, copyOf === undefined ? 0 : timeOf(copyOf));
  return pageStatement(
    `SELECT id, action, actor, subject_id AS "subjectId", detail, at AS "createdAt"\nFROM     audit_log`,
    {
      equalities: indexed === undefined ? [ofWorkspace] : [ofWorkspace, indexed],
      conditions: filtered === undefined ? copies : [equalityOf(filtered), ...copies],
      created: { createdAfter: new Date(sinceMs), createdBefore },
    },
    page,
    values,
  );
}
