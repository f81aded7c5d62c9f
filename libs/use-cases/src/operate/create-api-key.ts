import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, DEFAULT_ROLE, isRole, ROLE_NAMES, SIZES, WORKSPACE_LIMITS } from '@posthorn/domain';
import type { ApiKey, ApiKeyStore } from '@posthorn/database';
import { abbreviate, hashSecret, newApiKeySecret } from '@posthorn/signing';
import { normaliseName } from './normalise-name.ts';

/** The key to create. */
interface WantedApiKey {
  readonly displayName: string;
  /** Default: `API_USER`. */
  readonly role?: string;
}

/** A key with its secret, which cannot be shown again. */
export interface CreatedApiKey {
  readonly key: ApiKey;
  readonly secretKey: string;
}

/**
 * Creates a key; its secret is returned and not stored.
 *
 * @throws Refusal 400 for an invalid name or role, 409 when the workspace has the maximum of keys
 */
export async function createApiKey(
  apiKeys: Pick<ApiKeyStore, 'create'>,
  workspaceId: WorkspaceId,
  actor: Actor,
  { displayName, role = DEFAULT_ROLE }: WantedApiKey,
): Promise<CreatedApiKey> {
  const kept = normaliseName('displayName', displayName, SIZES.apiKeyDisplayName.max);
  if (!isRole(role)) throw new Refusal(400, `\`role\` must be one of ${ROLE_NAMES.join(', ')}`);
  const secretKey = newApiKeySecret();
  const key = await apiKeys.create(workspaceId, actor, {
    displayName: kept,
    role,
    secretHash: hashSecret(secretKey),
    secretHint: abbreviate(secretKey),
  });
  if (key === undefined) throw tooManyKeys();
  return { key, secretKey };
}

/** The workspace has the maximum of keys. */
export function tooManyKeys(): Refusal {
  const max = WORKSPACE_LIMITS.apiKeys;
  return new Refusal(409, `The workspace has ${max} keys, the maximum; delete one first`);
}
