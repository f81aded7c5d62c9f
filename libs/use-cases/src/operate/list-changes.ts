import type { AuditEntry, AuditLogStore, WorkspaceStore } from '@posthorn/database';
import { SYSTEM_WORKSPACE_ID } from '@posthorn/kernel';
import { requireWorkspace } from './require-workspace.ts';

/** One page of the audit log, newest first. */
const NEWEST = { limit: 100, sort: 'createdAt.desc' } as const;

/**
 * The audit log of a workspace or, where none is named, of the installation: the newest first, a hundred changes at most.
 *
 * @throws Refusal 400 when this is not a workspace id, 404 when there is no such workspace
 */
export async function listChanges(
  workspaces: Pick<WorkspaceStore, 'find'>,
  auditLog: Pick<AuditLogStore, 'list'>,
  workspace?: string,
): Promise<readonly AuditEntry[]> {
  const id =
    workspace === undefined ? SYSTEM_WORKSPACE_ID : (await requireWorkspace(workspaces, workspace)).id;
  return (await auditLog.list(id, NEWEST)).items;
}
