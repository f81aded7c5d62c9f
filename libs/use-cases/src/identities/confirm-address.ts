import type { LinkedAddress, VerificationLinkStore } from '@posthorn/database';
import { hashIfSecret } from '@posthorn/signing';
import { VERIFICATION_LINK } from './verification-mail.ts';

const UNKNOWN: LinkedAddress = { state: 'unknown' };

/** What anybody with the link from a verification mail can do: see what it is for, and consent. */
export class ConfirmAddress {
  constructor(private readonly links: Pick<VerificationLinkStore, 'find' | 'use'>) {}

  /** What the link with this token is for. Changes nothing, because mail scanners open links. */
  async find(token: string): Promise<LinkedAddress> {
    const hash = hashIfSecret(VERIFICATION_LINK.prefix, token);
    return hash === undefined ? UNKNOWN : this.links.find(hash);
  }

  /** Verifies the address. `open`: verified by this call; `used`: by an earlier one. */
  async confirm(token: string): Promise<LinkedAddress> {
    const hash = hashIfSecret(VERIFICATION_LINK.prefix, token);
    return hash === undefined ? UNKNOWN : this.links.use(hash);
  }
}
