import { uuidOf, type WebhookId } from '@posthorn/kernel';
import { TOKEN_OVERLAP_SECONDS } from '@posthorn/domain';
import { sealContextOf, SEALED_COLUMNS, type SealedWebhook, type WebhookChange } from '@posthorn/database';
import { type SecretBox, SecretNotOpened } from '@posthorn/signing';

/** Encrypts and decrypts the tokens of webhooks. */
export class WebhookTokens {
  constructor(private readonly box: SecretBox) {}

  /** Encrypts a token for its webhook. */
  seal(id: WebhookId, token: string): Buffer {
    return this.box.seal(token, sealContextOf(SEALED_COLUMNS.webhookToken, uuidOf(id)));
  }

  /** The token of a webhook; undefined when its encryption key was lost. Such a token can be replaced like any other, which is the remedy. */
  openIfPossible({ id, sealedToken }: Pick<SealedWebhook, 'id' | 'sealedToken'>): string | undefined {
    const token = this.box.tryToOpen(sealedToken, sealContextOf(SEALED_COLUMNS.webhookToken, uuidOf(id)));
    return token instanceof SecretNotOpened ? undefined : token.toString('utf8');
  }

  /**
   * The change that gives a webhook this token. The previous one keeps signing for `overlapSeconds`, so that the receiver can be updated
   * after Posthorn. Setting the current token again changes nothing, so that a repeated call keeps the previous token; but without an
   * overlap that one ends at once.
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
    return this.box.seal(token, sealContextOf(SEALED_COLUMNS.webhookPreviousToken, uuidOf(id)));
  }
}
