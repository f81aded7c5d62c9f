import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, type RetentionOverrides, RETENTION_BOUNDS } from '@posthorn/domain';
import type { Workspace, WorkspaceStore } from '@posthorn/database';
import { foundWorkspace } from './require-workspace.ts';

/**
 * Sets for how many days a workspace's emails and events are kept. Absent values are kept; null means the installation's. Whatever is too
 * old by then is removed within about an hour, permanently.
 *
 * @throws Refusal 400 for an invalid number of days, 404 when there is no such workspace
 */
export async function retainWorkspace(
  workspaces: Pick<WorkspaceStore, 'change'>,
  id: WorkspaceId,
  actor: Actor,
  retention: Partial<RetentionOverrides>,
): Promise<Workspace> {
  const given = Object.entries(retention) as [keyof RetentionOverrides, number | null][];
  for (const [name, days] of given) validateDays(name, days);
  return foundWorkspace(id, await workspaces.change(id, actor, 'workspace.retention_changed', retention));
}

function validateDays(name: keyof RetentionOverrides, days: number | null): void {
  const { min, max } = RETENTION_BOUNDS[name];
  if (days === null || (Number.isInteger(days) && days >= min && days <= max)) return;
  throw new Refusal(400, `\`${name}\` must be a whole number of days from ${min} to ${max}`);
}
