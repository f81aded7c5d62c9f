import type { KeyObject } from 'node:crypto';
import { Coalescer, uuidOf, type WebhookId } from '@posthorn/kernel';
import {
  type DeliveryStore,
  sealContextOf,
  type Receiver,
  SEALED_COLUMNS,
  type SealedColumn,
} from '@posthorn/database';
import type { SecretBox } from '@posthorn/signing';
import { TokenCache } from './token-cache.ts';

const MAX_PER_LOOKUP = 500;

/** Where a webhook is posted to, and its signing keys. */
export interface ReceiverWithKeys extends Receiver {
  /** The signing keys, newest first; two while the token is being rotated. */
  readonly keys: readonly [KeyObject, ...KeyObject[]];
}

/**
 * Reads the receivers of webhooks just before each POST, so that changes since the claim count. Concurrent look-ups share one statement; only decrypted
 * tokens are cached.
 */
export class Receivers {
  private readonly lookUps: Coalescer<WebhookId, ReceiverLookup | undefined>;
  private readonly tokens: TokenCache;

  constructor(deliveries: Pick<DeliveryStore, 'readReceivers'>, box: Pick<SecretBox, 'open'>) {
    this.tokens = new TokenCache(box);
    this.lookUps = new Coalescer({
      serve: async (ids) => (await deliveries.readReceivers(ids)).map((found) => this.open(found)),
      maxItems: MAX_PER_LOOKUP,
    });
  }

  /**
   * Undefined: the webhook was deleted.
   *
   * @throws what the database throws; SecretNotOpened when its token was encrypted with an unknown key
   */
  async find(id: WebhookId): Promise<ReceiverWithKeys | undefined> {
    const opened = await this.lookUps.add(id);
    if (opened !== undefined && 'fault' in opened) throw opened.fault;
    return opened;
  }

  /** A token that cannot be decrypted must not fail the other webhooks of the group. */
  private open(receiver: Receiver | undefined): ReceiverLookup | undefined {
    if (receiver === undefined) return undefined;
    try {
      const { id, sealedToken, sealedPreviousToken: previous } = receiver;
      const { webhookToken, webhookPreviousToken } = SEALED_COLUMNS;
      const opened = (sealed: Buffer, column: SealedColumn): KeyObject =>
        this.tokens.open(sealed, sealContextOf(column, uuidOf(id)));
      const older = previous === null ? [] : [opened(previous, webhookPreviousToken)];
      return { ...receiver, keys: [opened(sealedToken, webhookToken), ...older] };
    } catch (fault) {
      return { fault: fault as Error };
    }
  }
}

type ReceiverLookup = ReceiverWithKeys | { readonly fault: Error };
