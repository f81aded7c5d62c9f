import type { KeyObject } from 'node:crypto';
import { LruCache } from '@posthorn/kernel';
import { type SecretBox, webhookKey } from '@posthorn/signing';

const MAX_CACHED = 1_000;

/** A cache of decrypted webhook tokens, keyed by their ciphertext. A changed token has a new ciphertext, so the cache is never stale. */
export class TokenCache {
  private readonly opened = new LruCache<string, KeyObject>(MAX_CACHED);

  constructor(private readonly box: Pick<SecretBox, 'open'>) {}

  /** @throws SecretNotOpened when the token was encrypted with an unknown key; failures are not cached */
  open(sealed: Buffer, boundTo: string): KeyObject {
    const entry = `${boundTo} ${sealed.toString('latin1')}`;
    const known = this.opened.get(entry);
    if (known !== undefined) return known;
    const key = webhookKey(this.box.open(sealed, boundTo).toString('utf8'));
    this.opened.set(entry, key);
    return key;
  }
}
