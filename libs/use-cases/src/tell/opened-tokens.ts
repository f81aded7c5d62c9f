import type { KeyObject } from 'node:crypto';
import { BoundedMap } from '@posthorn/kernel';
import { type SecretBox, webhookKey } from '@posthorn/signing';

const MAX_CACHED = 1_000;

/**
 * Tokens of webhooks as they sign, each opened once a process: what is sealed for a place never opens to anything else there, so nothing that is kept
 * can be stale. A token that was changed is sealed anew.
 */
export class OpenedTokens {
  private readonly opened = new BoundedMap<string, KeyObject>(MAX_CACHED);

  constructor(private readonly box: Pick<SecretBox, 'open'>) {}

  /** @throws SecretNotOpened when the key of the token is not among ours; asked again it is tried again */
  open(sealed: Buffer, place: string): KeyObject {
    const sealedThere = `${place} ${sealed.toString('latin1')}`;
    const known = this.opened.get(sealedThere);
    if (known !== undefined) return known;
    const key = webhookKey(this.box.open(sealed, place).toString('utf8'));
    this.opened.set(sealedThere, key);
    return key;
  }
}
