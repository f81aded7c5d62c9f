import { parseId, Refusal, type WorkspaceId } from '@posthorn/kernel';
import type { Actor } from '@posthorn/domain';
import type { ApiKey, ApiKeyStore } from '@posthorn/database';

/**
 * Deletes a key permanently; it is not accepted any more.
 *
 * @throws Refusal (404) when the workspace has none with this id
 */
export async function deleteApiKey(
  apiKeys: Pick<ApiKeyStore, 'delete'>,
  workspaceId: WorkspaceId,
  actor: Actor,
  text: string,
): Promise<ApiKey> {
  const id = parseId('aki', text);
  const deleted = id === undefined ? undefined : await apiKeys.delete(workspaceId, actor, id);
  if (deleted === undefined) throw new Refusal(404, 'There is no API key with this id in this workspace');
  return deleted;
}
