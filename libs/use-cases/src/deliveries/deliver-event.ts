import { type DatabaseClock, startTimeout } from '@posthorn/kernel';
import { deliveryHeaders } from '@posthorn/domain';
import { type ClaimedDelivery, isOutage, type ReceiverReport } from '@posthorn/database';
import type { Tracer } from '@posthorn/platform';
import { SecretNotOpened, signBody, signMessage } from '@posthorn/signing';
import type { PostRequest, PostResult, WebhookClient } from '@posthorn/webhooks';
import {
  cancelled,
  outcomeOfPost,
  postponed,
  reportOfSlowness,
  SLOW_MS,
  TOKEN_LOST,
  type OutcomeWithReport,
} from './outcome-of-post.ts';
import { beginPostSpan, endPostSpan } from './post-span.ts';
import type { ReceiverWithKeys, Receivers } from './receivers.ts';

interface DeliverEventOptions {
  readonly receivers: Pick<Receivers, 'find'>;
  readonly client: Pick<WebhookClient, 'post'>;
  readonly clock: Pick<DatabaseClock, 'now'>;
  /** Total time for a POST: name look-up, connection, TLS, request and response. */
  readonly deadlineMs: number;
  /** Undefined: tracing is off. */
  readonly tracer?: Tracer | undefined;
  /** Called with errors that are our own fault. */
  readonly onError: (error: unknown) => void;
}

/** Called while a POST is under way, when it has become slow; with the report on its receiver, or null if there is nothing new to report. */
type OnSlow = (report: ReceiverReport | null) => void;

/** Posts one claimed delivery to its webhook. */
export class DeliverEvent {
  constructor(private readonly options: DeliverEventOptions) {}

  /**
   * Resolves with the outcome of the attempt; undefined: nothing was begun, because that is not possible now, and no attempt is counted.
   *
   * @param mayStillBegin whether the claim still holds; called when the receiver has been read
   * @param onSlow undefined: the delivery was claimed as one to a slow receiver
   */
  async deliver(
    delivery: ClaimedDelivery,
    mayStillBegin: () => boolean,
    onSlow?: OnSlow,
  ): Promise<OutcomeWithReport | undefined> {
    try {
      const receiver = await this.options.receivers.find(delivery.webhookId);
      if (receiver === undefined) return cancelled(delivery);
      // The webhook was paused or disabled after the claim: the delivery stays on hold with its others.
      if (receiver.status !== 'ACTIVE' || !mayStillBegin()) return undefined;
      // Another dispatcher has found it to be slow since the claim: only the slow queue posts to it now.
      if (onSlow !== undefined && receiver.health.isSlow) return undefined;
      return await this.post(delivery, receiver, onSlow);
    } catch (error) {
      this.options.onError(error);
      if (isOutage(error)) return undefined;
      return postponed(delivery, error instanceof SecretNotOpened ? TOKEN_LOST : undefined);
    }
  }

  private async post(
    delivery: ClaimedDelivery,
    receiver: ReceiverWithKeys,
    onSlow?: OnSlow,
  ): Promise<OutcomeWithReport> {
    const { clock, onError } = this.options;
    const { result, wasSlow } = await detectSlowness(
      (onAddresses) => this.postTraced(delivery, receiver, onAddresses),
      (isForReceiver) => onSlow?.(isForReceiver ? reportOfSlowness(delivery, receiver, clock.now()) : null),
    );
    if (result.kind === 'ours') onError(new Error(`a webhook could not be posted to: ${result.reason}`));
    return outcomeOfPost(delivery, receiver, result, { now: clock.now(), random: Math.random(), wasSlow });
  }

  private async postTraced(
    delivery: ClaimedDelivery,
    receiver: ReceiverWithKeys,
    onAddresses: () => void,
  ): Promise<PostResult> {
    const { client, tracer } = this.options;
    const span = tracer && beginPostSpan(tracer, delivery);
    let result: PostResult | undefined;
    try {
      result = await client.post(this.request(delivery, receiver, span?.traceparent), onAddresses);
      return result;
    } finally {
      endPostSpan(span, result);
    }
  }

  /** The body is sent byte for byte as it was recorded with the event. */
  private request(
    { id, eventId, event, isTest, payload, attemptsMade }: ClaimedDelivery,
    { url, keys }: ReceiverWithKeys,
    traceparent: string | undefined,
  ): PostRequest {
    const { clock, deadlineMs } = this.options;
    const body = Buffer.from(payload);
    const unixSeconds = Math.floor(clock.now().getTime() / 1_000);
    const headers = deliveryHeaders({
      event,
      isTest,
      eventId,
      deliveryId: id,
      attempt: attemptsMade + 1,
      unixSeconds,
      traceparent,
      bodySignature: signBody(body, keys[0]),
      messageSignature: signMessage({ id: eventId, unixSeconds, body }, keys),
    });
    return { url, headers, body, deadlineMs };
  }
}

/**
 * Calls `onSlow` when the DNS look-up, or everything after it, has taken longer than {@link SLOW_MS}. A slow look-up says nothing about the receiver: our
 * own name servers may be slow. A timer is used instead of the duration of the POST, because this process may have been suspended.
 */
async function detectSlowness(
  post: (onAddresses: () => void) => Promise<PostResult>,
  onSlow: (isForReceiver: boolean) => void,
): Promise<{ result: PostResult; wasSlow: boolean }> {
  let wasSlow = false;
  const wait = (isForReceiver: boolean): (() => void) => {
    wasSlow = false;
    return startTimeout(SLOW_MS, () => {
      wasSlow = true;
      onSlow(isForReceiver);
    });
  };
  let cancelTimeout = wait(false);
  try {
    const result = await post(() => {
      cancelTimeout();
      cancelTimeout = wait(true);
    });
    return { result, wasSlow };
  } finally {
    cancelTimeout();
  }
}
