import type { AuditEntry, AuditLogStore, WorkspaceStore } from '@posthorn/database';
import { SYSTEM_WORKSPACE_ID } from '@posthorn/kernel';
import { requireWorkspace } from './require-workspace.ts';

/** A page of the audit log, as operators see it. */
const NEWEST = { limit: 100, sort: 'createdAt.desc' } as const;

/**
 * What was changed in a workspace, or, where none is named, of the whole installation: the newest first, a hundred changes at most.
 *
 * @throws Refusal 400 when this is no id of a workspace, 404 when there is none with it
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
