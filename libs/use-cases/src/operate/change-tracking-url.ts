import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, parseTrackingUrl } from '@posthorn/domain';
import type { Workspace, WorkspaceStore } from '@posthorn/database';
import { noSuchWorkspace } from './require-workspace.ts';

/**
 * Gives tracked links and images of a workspace's emails an address of their own, from the next email on. That it leads to the gateway, by a
 * certificate that fits, is for the operator to see to.
 *
 * @param trackingUrl null: the installation's again
 * @throws Refusal 400 for what is no address of a gateway, 404 when there is no such workspace
 */
export async function changeTrackingUrl(
  workspaces: Pick<WorkspaceStore, 'changeTrackingUrl'>,
  id: WorkspaceId,
  actor: Actor,
  trackingUrl: string | null,
): Promise<Workspace> {
  const workspace = await workspaces.changeTrackingUrl(id, actor, trackingUrl && judged(trackingUrl));
  if (workspace === undefined) throw noSuchWorkspace(id);
  return workspace;
}

function judged(text: string): string {
  const parsed = parseTrackingUrl(text);
  if ('fault' in parsed) throw new Refusal(400, `\`url\` ${parsed.fault}`);
  return parsed.url;
}
