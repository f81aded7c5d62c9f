import type { Actor } from '@posthorn/domain';
import type { Workspace, WorkspaceStore } from '@posthorn/database';
import { validateLimit } from './change-workspace.ts';
import { normaliseName } from './normalise-name.ts';

const MAX_NAME_CHARACTERS = 100;

/**
 * Creates a workspace, and records in its audit log who did.
 *
 * @param monthlyEmailLimit null: the installation's; 0: no limit
 * @throws Refusal (400) for a name that is empty, too long or has invisible characters, or an invalid limit
 */
export async function createWorkspace(
  workspaces: Pick<WorkspaceStore, 'create'>,
  actor: Actor,
  name: string,
  monthlyEmailLimit: number | null,
): Promise<Workspace> {
  const kept = normaliseName('name', name, MAX_NAME_CHARACTERS);
  validateLimit('monthlyEmailLimit', monthlyEmailLimit);
  return workspaces.create(actor, kept, monthlyEmailLimit);
}
