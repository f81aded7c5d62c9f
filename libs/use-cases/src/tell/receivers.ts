import type { KeyObject } from 'node:crypto';
import { Coalescer, uuidOf, type WebhookId } from '@posthorn/kernel';
import {
  type DeliveryStore,
  placeOf,
  type Receiver,
  SEALED_COLUMNS,
  type SealedColumn,
} from '@posthorn/database';
import type { SecretBox } from '@posthorn/signing';
import { OpenedTokens } from './opened-tokens.ts';

const MAX_PER_LOOKUP = 500;

/** Where a webhook is posted to, with what it is signed with. */
export interface OpenReceiver extends Receiver {
  /** What its tokens are to signatures, the newest first; with two the older one is being replaced. */
  readonly keys: readonly [KeyObject, ...KeyObject[]];
}

/**
 * The receivers of webhooks as they are just before each POST: what was changed, paused or deleted since the claim counts. Look-ups that
 * are in flight together share one statement, and nothing is kept but what tokens open to.
 */
export class Receivers {
  private readonly lookUps: Coalescer<WebhookId, Opened | undefined>;
  private readonly tokens: OpenedTokens;

  constructor(deliveries: Pick<DeliveryStore, 'readReceivers'>, box: Pick<SecretBox, 'open'>) {
    this.tokens = new OpenedTokens(box);
    this.lookUps = new Coalescer({
      serve: async (ids) => {
        const wanted = [...new Set(ids)];
        const found = await deliveries.readReceivers(wanted);
        const opened = new Map(wanted.map((id, index) => [id, this.open(found[index])]));
        return ids.map((id) => opened.get(id));
      },
      maxItems: MAX_PER_LOOKUP,
    });
  }

  /**
   * Undefined: it is deleted.
   *
   * @throws what the database throws; SecretNotOpened when the key of its token is not among ours
   */
  async find(id: WebhookId): Promise<OpenReceiver | undefined> {
    const opened = await this.lookUps.add(id);
    if (opened !== undefined && 'fault' in opened) throw opened.fault;
    return opened;
  }

  /** A token that cannot be opened must fail its own webhook and no other of the group. */
  private open(receiver: Receiver | undefined): Opened | undefined {
    if (receiver === undefined) return undefined;
    try {
      const { id, sealedToken, sealedPreviousToken: previous } = receiver;
      const { webhookToken, webhookPreviousToken } = SEALED_COLUMNS;
      const opened = (sealed: Buffer, column: SealedColumn): KeyObject =>
        this.tokens.open(sealed, placeOf(column, uuidOf(id)));
      const older = previous === null ? [] : [opened(previous, webhookPreviousToken)];
      return { ...receiver, keys: [opened(sealedToken, webhookToken), ...older] };
    } catch (fault) {
      return { fault: fault as Error };
    }
  }
}

type Opened = OpenReceiver | { readonly fault: Error };
