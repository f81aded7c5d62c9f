import { uuidOf, type WebhookId } from '@posthorn/kernel';
import { TOKEN_OVERLAP_SECONDS } from '@posthorn/domain';
import { placeOf, SEALED_COLUMNS, type SealedWebhook, type WebhookChange } from '@posthorn/database';
import { type SecretBox, SecretNotOpened } from '@posthorn/signing';

/** The tokens of webhooks, as they are kept. */
export class WebhookTokens {
  constructor(private readonly box: SecretBox) {}

  /** A token, encrypted for its webhook. */
  seal(id: WebhookId, token: string): Buffer {
    return this.box.seal(token, placeOf(SEALED_COLUMNS.webhookToken, uuidOf(id)));
  }

  /** The token that a webhook has. @throws SecretNotOpened when its key was lost */
  open({ id, sealedToken }: Pick<SealedWebhook, 'id' | 'sealedToken'>): string {
    const place = placeOf(SEALED_COLUMNS.webhookToken, uuidOf(id));
    return this.box.open(sealedToken, place).toString('utf8');
  }

  /**
   * What giving a webhook this token changes, by whichever route it comes. The one before signs on for `overlapSeconds`, so that a receiver
   * can be changed after Posthorn. The token that it has already changes nothing, so that a call that was repeated keeps the one before; but
   * without an overlap that one ends.
   */
  change(
    before: SealedWebhook,
    token: string,
    overlapSeconds: number = TOKEN_OVERLAP_SECONDS.default,
  ): WebhookChange {
    const current = this.openIfPossible(before);
    if (current === token) {
      const ends = overlapSeconds === 0 && before.previousTokenUntil !== null;
      return ends ? { previousToken: null } : {};
    }
    const isKept = current !== undefined && overlapSeconds > 0;
    const previousToken = isKept ? { sealed: this.sealPrevious(before.id, current), overlapSeconds } : null;
    return { sealedToken: this.seal(before.id, token), previousToken };
  }

  private sealPrevious(id: WebhookId, token: string): Buffer {
    return this.box.seal(token, placeOf(SEALED_COLUMNS.webhookPreviousToken, uuidOf(id)));
  }

  /** Undefined: its key was lost. It is replaced like any other: that is how it is mended. */
  private openIfPossible({ id, sealedToken }: SealedWebhook): string | undefined {
    const token = this.box.tryToOpen(sealedToken, placeOf(SEALED_COLUMNS.webhookToken, uuidOf(id)));
    return token instanceof SecretNotOpened ? undefined : token.toString('utf8');
  }
}
