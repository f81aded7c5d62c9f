import { parseId, Refusal, type WorkspaceId } from '@posthorn/kernel';
import type { Workspace, WorkspaceStore } from '@posthorn/database';

const MAX_SHOWN = 40;

/**
 * The workspace that is meant.
 *
 * @throws Refusal 400 when this is no id of a workspace, 404 when there is none with it
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

/** What was found under an id. @throws Refusal (404) when that is nothing */
export function foundWorkspace(id: WorkspaceId, workspace: Workspace | undefined): Workspace {
  if (workspace !== undefined) return workspace;
  throw new Refusal(404, `There is no workspace ${id}; list them to see which there are`);
}
