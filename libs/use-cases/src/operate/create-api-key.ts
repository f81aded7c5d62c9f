import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import { DEFAULT_ROLE, isRole, ROLE_NAMES, SIZES, WORKSPACE_LIMITS } from '@posthorn/domain';
import { type ApiKey, type ApiKeyStore } from '@posthorn/database';
import { abbreviate, hashSecret, newApiKeySecret } from '@posthorn/signing';

/** A key with its secret, which nobody can be shown again. */
export interface CreatedApiKey {
  readonly key: ApiKey;
  readonly secretKey: string;
}

/**
 * Creates a key; its secret is in the answer and nowhere else.
 *
 * @throws Refusal 400 for a name or role that is none, 409 when the workspace has as many keys as it may
 */
export async function createApiKey(
  apiKeys: ApiKeyStore,
  workspaceId: WorkspaceId,
  displayName: string,
  role: string = DEFAULT_ROLE,
): Promise<CreatedApiKey> {
  const longest = SIZES.apiKeyDisplayName.most;
  const length = [...displayName].length;
  if (length < 1 || length > longest) {
    throw new Refusal(400, `\`displayName\` has ${length} characters; give 1 to ${longest}`);
  }
  if (!isRole(role)) throw new Refusal(400, `\`role\` must be one of ${ROLE_NAMES.join(', ')}`);
  if ((await apiKeys.list(workspaceId)).length >= WORKSPACE_LIMITS.apiKeys) {
    throw new Refusal(
      409,
      `The workspace has ${WORKSPACE_LIMITS.apiKeys} keys, which is as many as it may; delete one first`,
    );
  }
  const secretKey = newApiKeySecret();
  const key = await apiKeys.create(workspaceId, {
    displayName,
    role,
    secretHash: hashSecret(secretKey),
    secretHint: abbreviate(secretKey),
  });
  return { key, secretKey };
}
