import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, DEFAULT_ROLE, isRole, ROLE_NAMES, SIZES, WORKSPACE_LIMITS } from '@posthorn/domain';
import type { ApiKey, ApiKeyStore } from '@posthorn/database';
import { abbreviate, hashSecret, newApiKeySecret } from '@posthorn/signing';
import { nameIn } from './name-in.ts';

/** What a key is to be. */
interface WantedApiKey {
  readonly displayName: string;
  /** Default: `API_USER`. */
  readonly role?: string;
}

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
  apiKeys: Pick<ApiKeyStore, 'create'>,
  workspaceId: WorkspaceId,
  actor: Actor,
  { displayName, role = DEFAULT_ROLE }: WantedApiKey,
): Promise<CreatedApiKey> {
  const kept = nameIn('displayName', displayName, SIZES.apiKeyDisplayName.max);
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

/** The workspace has as many keys as it may. */
export function tooManyKeys(): Refusal {
  const max = WORKSPACE_LIMITS.apiKeys;
  return new Refusal(409, `The workspace has ${max} keys, which is as many as it may; delete one first`);
}
