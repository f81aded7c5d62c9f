import type { LinkedAddress, VerificationLinkStore } from '@posthorn/database';
import { hashIfSecret } from '@posthorn/signing';
import { VERIFICATION_PREFIX } from './send-verification-link.ts';

const UNKNOWN: LinkedAddress = { state: 'unknown' };

/** What whoever opens a link from a mail can do: see what it is about, and consent. */
export class ConfirmAddress {
  constructor(private readonly links: Pick<VerificationLinkStore, 'find' | 'use'>) {}

  /** What the link with this token is about. Programs open links to look at them, so this changes nothing. */
  async look(token: string): Promise<LinkedAddress> {
    const hash = hashIfSecret(VERIFICATION_PREFIX, token);
    return hash === undefined ? UNKNOWN : this.links.find(hash);
  }

  /** Verifies the address. `open`: by this call; `used`: by an earlier one. */
  async confirm(token: string): Promise<LinkedAddress> {
    const hash = hashIfSecret(VERIFICATION_PREFIX, token);
    return hash === undefined ? UNKNOWN : this.links.use(hash);
  }
}
