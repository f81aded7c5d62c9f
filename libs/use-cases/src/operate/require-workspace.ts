import { parseId, Refusal, type WorkspaceId } from '@posthorn/kernel';
import type { Workspace, WorkspaceDeletionStore, WorkspaceStore } from '@posthorn/database';

const MAX_SHOWN = 40;

/**
 * The workspace with this id.
 *
 * @throws Refusal 400 when this is not a workspace id, 404 when there is no such workspace
 */
export async function requireWorkspace(
  workspaces: Pick<WorkspaceStore, 'find'>,
  text: string,
): Promise<Workspace> {
  const id = parseId('wrk', text);
  if (id === undefined) {
    const shown = JSON.stringify(text.slice(0, MAX_SHOWN));
    throw new Refusal(400, `${shown} is not the id of a workspace, which looks like wrk_01h2…`);
  }
  return foundWorkspace(id, await workspaces.find(id));
}

/**
 * The workspace with this id, to add something to it or to change it.
 *
 * @throws Refusal as {@link requireWorkspace}, and 409 when its deletion has begun
 */
export async function requireOpenWorkspace(
  workspaces: Pick<WorkspaceStore, 'find'>,
  deletion: Pick<WorkspaceDeletionStore, 'isBegun'>,
  text: string,
): Promise<Workspace> {
  const workspace = await requireWorkspace(workspaces, text);
  if (!(await deletion.isBegun(workspace.id))) return workspace;
  throw new Refusal(409, `${workspace.id} is being deleted; \`workspace delete\` completes that`);
}

/** The workspace, if it was found. @throws Refusal (404) if not */
export function foundWorkspace(id: WorkspaceId, workspace: Workspace | undefined): Workspace {
  if (workspace !== undefined) return workspace;
  throw new Refusal(404, `There is no workspace ${id}; list them to see which there are`);
}
