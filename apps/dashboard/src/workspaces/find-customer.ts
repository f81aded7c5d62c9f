import { parseId, SYSTEM_WORKSPACE_ID } from '@posthorn/kernel';
import type { Workspace, WorkspaceStore } from '@posthorn/database';
import { orNotFound } from '../pages/refusals.ts';

const NO_WORKSPACE = 'There is no workspace with this id';

/** The workspace with this id. @throws Refusal (404) when there is none; Posthorn's own has no pages */
export async function findCustomer(store: Pick<WorkspaceStore, 'find'>, text: string): Promise<Workspace> {
  const id = orNotFound(parseId('wrk', text), NO_WORKSPACE);
  return orNotFound(id === SYSTEM_WORKSPACE_ID ? undefined : await store.find(id), NO_WORKSPACE);
}
