import { parseId, Refusal, type WorkspaceId } from '@posthorn/kernel';
import { type Workspace, type WorkspaceStore } from '@posthorn/database';

const LONGEST_NAME = 100;

/**
 * Creates a workspace.
 *
 * @param monthlyEmailLimit null: the installation's; 0: none
 * @throws Refusal (400) for a name that is empty or longer than 100 characters, or a limit that is none
 */
export async function createWorkspace(
  workspaces: WorkspaceStore,
  name: string,
  monthlyEmailLimit: number | null,
): Promise<Workspace> {
  const trimmed = name.trim();
  if (trimmed === '' || [...trimmed].length > LONGEST_NAME) {
    throw new Refusal(400, `\`name\` has ${[...trimmed].length} characters; give 1 to ${LONGEST_NAME}`);
  }
  if (monthlyEmailLimit !== null && !(Number.isInteger(monthlyEmailLimit) && monthlyEmailLimit >= 0)) {
    throw new Refusal(400, '`monthlyEmailLimit` must be a whole number from 0 on, where 0 means no limit');
  }
  return workspaces.create(trimmed, monthlyEmailLimit);
}

/**
 * The workspace that is meant.
 *
 * @throws Refusal 400 when this is no id of a workspace, 404 when there is none with it
 */
export async function requireWorkspace(workspaces: WorkspaceStore, text: string): Promise<Workspace> {
  const id: WorkspaceId | undefined = parseId('wrk', text);
  if (id === undefined)
    throw new Refusal(
      400,
      `${JSON.stringify(text)} is not the id of a workspace, which looks like wrk_01h2…`,
    );
  const workspace = await workspaces.find(id);
  if (workspace === undefined)
    throw new Refusal(404, `There is no workspace ${id}; list them to see which there are`);
  return workspace;
}
