import { Coalescer, Refusal } from '@posthorn/kernel';
import { type ApiKeyStore, isOutage } from '@posthorn/database';
import { unknownKey } from './bearer-credential.ts';
import type { KeyUses } from './key-uses.ts';
import type { Principal } from './principal.ts';

const MAX_KEYS_PER_LOOKUP = 500;
const RETRY_AFTER_SECONDS = 2;

/**
 * Finds the holder of an API key. Concurrent requests share one look-up. Nothing is cached, so a deleted key stops working at once on
 * every gateway.
 */
export class Authenticate {
  private readonly lookUps: Coalescer<Buffer, Principal | undefined>;

  constructor(
    apiKeys: Pick<ApiKeyStore, 'findHolders'>,
    private readonly uses: Pick<KeyUses, 'note'>,
  ) {
    this.lookUps = new Coalescer({
      serve: (hashes) => apiKeys.findHolders(hashes),
      maxItems: MAX_KEYS_PER_LOOKUP,
    });
  }

  /**
   * @param secretHash of the key
   * @throws Refusal 401 for an unknown key, 503 when the database is unavailable
   */
  async authenticate(secretHash: Buffer): Promise<Principal> {
    const principal = await this.find(secretHash);
    if (principal === undefined) throw unknownKey();
    this.uses.note(principal.apiKeyId);
    return principal;
  }

  private async find(secretHash: Buffer): Promise<Principal | undefined> {
    try {
      return await this.lookUps.add(secretHash);
    } catch (error) {
      if (!isOutage(error)) throw error;
      throw new Refusal(
        503,
        'The service cannot check the API key right now; nothing has been done, send the request again',
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
        { cause: error },
      );
    }
  }
}
