import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, MAX_LIMIT_OVERRIDES, type LimitOverrides } from '@posthorn/domain';
import type { Workspace, WorkspaceStore } from '@posthorn/database';
import { foundWorkspace } from './require-workspace.ts';

/**
 * Sets limits of a workspace's own. Absent ones are kept; null means the installation's, 0 no limit. They apply from the next request on.
 *
 * @throws Refusal 400 for an invalid limit, 404 when there is no such workspace
 */
export async function limitWorkspace(
  workspaces: Pick<WorkspaceStore, 'change'>,
  id: WorkspaceId,
  actor: Actor,
  limits: Partial<LimitOverrides>,
): Promise<Workspace> {
  const given = Object.entries(limits) as [keyof LimitOverrides, number | null][];
  for (const [name, limit] of given) validateLimit(name, limit);
  return foundWorkspace(id, await workspaces.change(id, actor, 'workspace.limits_changed', limits));
}

/** @throws Refusal (400) for a value that is neither null nor a valid limit */
export function validateLimit(name: keyof LimitOverrides, limit: number | null): void {
  const highest = MAX_LIMIT_OVERRIDES[name];
  if (limit === null || (Number.isInteger(limit) && limit >= 0 && limit <= highest)) return;
  throw new Refusal(400, `\`${name}\` must be a whole number from 0 to ${highest}, where 0 means no limit`);
}
