import type { WorkspaceId } from '@posthorn/kernel';
import { type Actor, parseTrackingUrl } from '@posthorn/domain';
import type { Workspace, WorkspaceStore } from '@posthorn/database';
import { judged } from '../judged.ts';
import { foundWorkspace } from './require-workspace.ts';

/**
 * Gives tracked links and images of a workspace's emails an address of their own, from the next email on. That it leads to the gateway, by a
 * certificate that fits, is for the operator to see to.
 *
 * @param trackingUrl null: the installation's again
 * @throws Refusal 400 for what is no address of a gateway, 404 when there is no such workspace
 */
export async function changeTrackingUrl(
  workspaces: Pick<WorkspaceStore, 'change'>,
  id: WorkspaceId,
  actor: Actor,
  trackingUrl: string | null,
): Promise<Workspace> {
  const own = { trackingUrl: trackingUrl && judged('url', parseTrackingUrl(trackingUrl)).url };
  return foundWorkspace(id, await workspaces.change(id, actor, 'workspace.tracking_changed', own));
}
