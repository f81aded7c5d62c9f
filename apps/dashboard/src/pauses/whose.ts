import { Refusal } from '@posthorn/kernel';
import type { WorkspaceStore } from '@posthorn/database';
import type { Whose } from '@posthorn/use-cases';
import type { FormInput } from '../pages/form-input.ts';
import { orNotFound } from '../pages/refusals.ts';

/** What can be paused, and hastened. */
export const WHOSE = {
  workspace: 'The emails of one workspace',
  emails: 'The emails of all workspaces',
  webhooks: 'All deliveries to webhooks',
} as const;

/** Reads the fields `whose` and `workspace`. @throws Refusal 400 where they are missing or contradictory, 404 for an unknown workspace */
export async function readWhose(workspaces: Pick<WorkspaceStore, 'find'>, input: FormInput): Promise<Whose> {
  const whose = input.oneOf('whose', WHOSE);
  if (whose === undefined) throw new Refusal(400, '`whose` is missing; say what is meant');
  const id = input.workspaceId();
  if (whose !== 'workspace') {
    if (id === undefined) return whose;
    throw new Refusal(400, '`workspace` is given, but not one is meant; leave it out, or say that one is');
  }
  if (id === undefined) throw new Refusal(400, '`workspace` is missing; give the id of the workspace');
  return orNotFound(await workspaces.find(id), 'There is no workspace with this id').id;
}
