import { type DatabaseClock, startTimeout } from '@posthorn/kernel';
import { deliveryHeaders } from '@posthorn/domain';
import { type ClaimedDelivery, isOutage, type ReceiverReport } from '@posthorn/database';
import type { Tracer } from '@posthorn/platform';
import { signBody, signMessage } from '@posthorn/signing';
import type { PostRequest, PostResult, WebhookClient } from '@posthorn/webhooks';
import {
  cancelled,
  outcomeOfPost,
  postponed,
  reportOfWait,
  SLOW_MS,
  type ToldOutcome,
} from './outcome-of-post.ts';
import { beginPostSpan, endPostSpan } from './post-span.ts';
import type { OpenReceiver, Receivers } from './receivers.ts';

interface DeliverEventOptions {
  readonly receivers: Pick<Receivers, 'find'>;
  readonly client: Pick<WebhookClient, 'post'>;
  readonly clock: Pick<DatabaseClock, 'now'>;
  /** How long a POST may take with everything: name, connection, TLS, request and answer. */
  readonly deadlineMs: number;
  /** What is told of POSTs; undefined: traces are off. */
  readonly tracer?: Tracer | undefined;
  /** Told of faults of our own. */
  readonly onError: (error: unknown) => void;
}

/** Told when a POST is only waited for, while it still is; with what is new about its receiver. */
type OnWait = (report: ReceiverReport | null) => void;

/** Posts one claimed delivery to its webhook. */
export class DeliverEvent {
  constructor(private readonly options: DeliverEventOptions) {}

  /**
   * What became of the delivery; undefined: nothing, because it may not be begun just now, and it costs no attempt.
   *
   * @param mayStillBegin whether the delivery is still ours, asked when its receiver is known
   */
  async deliver(
    delivery: ClaimedDelivery,
    mayStillBegin: () => boolean,
    onWait?: OnWait,
  ): Promise<ToldOutcome | undefined> {
    try {
      const receiver = await this.options.receivers.find(delivery.webhookId);
      if (receiver === undefined) return cancelled(delivery);
      // It was paused or disabled after the claim: the delivery is held with the others.
      if (receiver.status !== 'ACTIVE' || !mayStillBegin()) return undefined;
      return await this.post(delivery, receiver, onWait);
    } catch (error) {
      this.options.onError(error);
      return isOutage(error) ? undefined : postponed(delivery);
    }
  }

  private async post(
    delivery: ClaimedDelivery,
    receiver: OpenReceiver,
    onWait?: OnWait,
  ): Promise<ToldOutcome> {
    const { clock, onError } = this.options;
    const { result, hasWaited } = await tellingOfWait(
      (onAddresses) => this.postTraced(delivery, receiver, onAddresses),
      (isForReceiver) => onWait?.(isForReceiver ? reportOfWait(delivery, receiver, clock.now()) : null),
    );
    if (result.kind === 'ours') onError(new Error(`a webhook could not be posted to: ${result.reason}`));
    return outcomeOfPost(delivery, receiver, result, { now: clock.now(), random: Math.random(), hasWaited });
  }

  private async postTraced(
    delivery: ClaimedDelivery,
    receiver: OpenReceiver,
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

  /** The bytes are those that were recorded with the event. */
  private request(
    { id, eventId, event, isTest, payload, attemptsMade }: ClaimedDelivery,
    { url, keys }: OpenReceiver,
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
 * A look-up that hangs is waited for, too, but that says nothing of the receiver: it may be our name servers that hang. How long a POST took
 * does not say whether it was waited for: this process may have stood still.
 */
async function tellingOfWait<Result>(
  post: (onAddresses: () => void) => Promise<Result>,
  onWait: (isForReceiver: boolean) => void,
): Promise<{ result: Result; hasWaited: boolean }> {
  let hasWaited = false;
  const wait = (isForReceiver: boolean): (() => void) => {
    hasWaited = false;
    return startTimeout(SLOW_MS, () => {
      hasWaited = true;
      onWait(isForReceiver);
    });
  };
  let cancelTimeout = wait(false);
  try {
    const result = await post(() => {
      cancelTimeout();
      cancelTimeout = wait(true);
    });
    return { result, hasWaited };
  } finally {
    cancelTimeout();
  }
}
