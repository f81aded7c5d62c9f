import { Refusal } from '@posthorn/kernel';
import { type Workspace, type WorkspaceStore } from '@posthorn/database';
import { nameIn } from './name-in.ts';

const LONGEST_NAME = 100;
/** As many as an installation may allow; the column would hold little more. */
const HIGHEST_LIMIT = 1_000_000_000;

/**
 * Creates a workspace.
 *
 * @param monthlyEmailLimit null: the installation's; 0: none
 * @throws Refusal (400) for a name that is empty, too long or not to be seen, or a limit that is none
 */
export async function createWorkspace(
  workspaces: Pick<WorkspaceStore, 'create'>,
  name: string,
  monthlyEmailLimit: number | null,
): Promise<Workspace> {
  const kept = nameIn('name', name, LONGEST_NAME);
  if (monthlyEmailLimit !== null && !isLimit(monthlyEmailLimit)) {
    throw new Refusal(
      400,
      `\`monthlyEmailLimit\` must be a whole number from 0 to ${HIGHEST_LIMIT}, where 0 means no limit`,
    );
  }
  return workspaces.create(kept, monthlyEmailLimit);
}

function isLimit(number: number): boolean {
  return Number.isInteger(number) && number >= 0 && number <= HIGHEST_LIMIT;
}
