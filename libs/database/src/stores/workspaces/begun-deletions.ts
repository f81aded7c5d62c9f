import { SYSTEM_WORKSPACE_ID, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { AuditedAction } from '@posthorn/domain';
import type { Transaction } from '../../transactions/transaction.ts';

type AuditLog = Pick<Transaction, 'auditEntry'>;

/** What is begun can only be completed, so the entry from its beginning is enough. */
const BEGUN = {
  workspaceId: uuidOf(SYSTEM_WORKSPACE_ID),
  action: 'workspace.deletion_begun' satisfies AuditedAction,
};

/** Whether the deletion of a workspace has begun. Index: audit_log_by_subject_idx. */
export async function isBeingDeleted(log: AuditLog, subjectId: WorkspaceId): Promise<boolean> {
  return (await log.auditEntry.findFirst({ where: { ...BEGUN, subjectId } })) !== null;
}

/** When the deletions of workspaces began, by their ids; also those of workspaces that are gone. Index: audit_log_by_action_idx. */
export async function findBegunDeletions(log: AuditLog): Promise<Map<string, Date>> {
  const entries = await log.auditEntry.findMany({
    where: BEGUN,
    // The last one that is set counts, so the oldest: a deletion that was interrupted begins again.
    orderBy: { id: 'desc' },
    select: { subjectId: true, at: true },
  });
  return new Map(entries.map(({ subjectId, at }) => [subjectId, at]));
}
