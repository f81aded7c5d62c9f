import type { ApiKeyStatus } from '@posthorn/domain';
import type { ApiKey as StoredApiKey } from '@posthorn/database';
import type { ApiKey } from './api-key.answers.ts';

/** The API representation of a key, its secret abbreviated. */
export function apiKeyView(key: StoredApiKey, status: ApiKeyStatus = 'ACTIVE'): ApiKey {
  const { id, displayName, role, secretHint, createdAt, updatedAt, lastUsedAt } = key;
  return { id, displayName, role, status, secretKey: secretHint, createdAt, updatedAt, lastUsedAt };
}
