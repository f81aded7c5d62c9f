import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import type { Actor } from '@posthorn/domain';
import type { Workspace, WorkspaceStore } from '@posthorn/database';
import { foundWorkspace } from './require-workspace.ts';

/** Which events of emails a workspace's feed has: all, or those that a webhook was subscribed to when they happened. */
const EMAIL_EVENTS = ['all', 'subscribed'];

/**
 * Sets which events of emails are recorded for a workspace, from the next one on. Those that no webhook is subscribed to are only in the feed.
 *
 * @param emailEvents one of {@link EMAIL_EVENTS}
 * @throws Refusal 400 for anything else, 404 when there is no such workspace
 */
export async function changeRecording(
  workspaces: Pick<WorkspaceStore, 'change'>,
  id: WorkspaceId,
  actor: Actor,
  emailEvents: string,
): Promise<Workspace> {
  if (!EMAIL_EVENTS.includes(emailEvents))
    throw new Refusal(400, `\`emailEvents\` must be one of ${EMAIL_EVENTS.join(', ')}`);
  const own = { recordsAllEvents: emailEvents === 'all' };
  return foundWorkspace(id, await workspaces.change(id, actor, 'workspace.recording_changed', own));
}
