import type { Workspace, WorkspaceDeletionStore, WorkspaceStore } from '@posthorn/database';

interface ListedWorkspace extends Workspace {
  /** Null: it is not being deleted. */
  readonly deletionBegunAt: Date | null;
}

/** The workspaces of customers, the oldest first; also those whose deletion has begun and was not completed. */
export async function listWorkspaces(
  workspaces: Pick<WorkspaceStore, 'list'>,
  deletion: Pick<WorkspaceDeletionStore, 'begun'>,
): Promise<ListedWorkspace[]> {
  const [listed, begun] = await Promise.all([workspaces.list(), deletion.begun()]);
  return listed.map((workspace) => ({ ...workspace, deletionBegunAt: begun.get(workspace.id) ?? null }));
}
