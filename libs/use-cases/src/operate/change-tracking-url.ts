import type { WorkspaceId } from '@posthorn/kernel';
import { type Actor, parseTrackingUrl } from '@posthorn/domain';
import type { Workspace, WorkspaceStore } from '@posthorn/database';
import { requireValid } from '../require-valid.ts';
import { foundWorkspace } from './require-workspace.ts';

/**
 * Sets a workspace's own URL for tracking links and images, from the next email on. The operator is responsible for making it lead to the
 * gateway with a matching certificate.
 *
 * @param trackingUrl null: the installation's
 * @throws Refusal 400 for an invalid URL, 404 when there is no such workspace
 */
export async function changeTrackingUrl(
  workspaces: Pick<WorkspaceStore, 'change'>,
  id: WorkspaceId,
  actor: Actor,
  trackingUrl: string | null,
): Promise<Workspace> {
  const valid = trackingUrl === null ? null : requireValid('url', parseTrackingUrl(trackingUrl)).url;
  const own = { trackingUrl: valid };
  return foundWorkspace(id, await workspaces.change(id, actor, 'workspace.tracking_changed', own));
}
