import {
  type DeliveryId,
  type EventId,
  idFromUuid,
  type WebhookId,
  type WorkspaceId,
} from '@posthorn/kernel';
import type { EventName, LaneId, PostErrorClass, ReceiverHealth, WebhookStatus } from '@posthorn/domain';
import type { Claim, ClaimedRow } from '../outbox/claim.ts';
import type { RowOf } from '../row-of.ts';

/** A claimed delivery with its payload. */
export interface ClaimedDelivery extends ClaimedRow {
  readonly id: DeliveryId;
  readonly workspaceId: WorkspaceId;
  readonly webhookId: WebhookId;
  readonly eventId: EventId;
  readonly event: EventName;
  readonly payload: string;
  /** Whether this is a test event, by which somebody tries out the webhook. */
  readonly isTest: boolean;
  /** All attempts so far, including those before the retry schedule started anew. */
  readonly attemptsMade: number;
  /** That of the request that caused the event; null: unknown. */
  readonly traceparent: string | null;
}

/** A webhook as read from the database: where it is posted to, and with which tokens. */
export interface Receiver {
  readonly id: WebhookId;
  readonly url: string;
  /** Encrypted, bound to `SEALED_COLUMNS.webhookToken`. */
  readonly sealedToken: Buffer;
  /** The previous token, encrypted, bound to its own column; null unless the token is being rotated. */
  readonly sealedPreviousToken: Buffer | null;
  readonly status: WebhookStatus;
  /** When the webhook was last changed, as written by the database. Reports on an earlier version are ignored. */
  readonly asOf: string;
  readonly health: ReceiverHealth;
}

/** One POST, as it is stored. */
export interface DeliveryAttempt {
  readonly number: number;
  readonly durationMs: number;
  readonly statusCode?: number | undefined;
  readonly errorClass?: PostErrorClass | undefined;
  /** A sentence for the people of the workspace. */
  readonly reason?: string | undefined;
  /** Of the response; names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The beginning of the response body. */
  readonly body?: string | undefined;
}

/** A fault of ours that kept a claimed delivery from being posted. */
export interface OwnFault extends Claim {
  readonly id: DeliveryId;
  /** Which attempt it would have been. */
  readonly number: number;
  /** A sentence for the people of the workspace. */
  readonly reason: string;
  readonly durationMs: number;
}

/** The outcome of a claimed delivery, as RECORD_DELIVERIES takes it. */
export interface DeliveryOutcome extends Claim {
  readonly id: DeliveryId;
  readonly laneId: LaneId;
  /** The delivery's new status; null: unchanged. */
  readonly status: 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED' | null;
  /** Delay before the retry, from when the outcome is recorded; null: the delivery is finished. */
  readonly retryAfterMs: number | null;
  /** Its step in the retry schedule, if it is retried. */
  readonly steps: number;
  /** Null: this does not count as an attempt. */
  readonly attempt: DeliveryAttempt | null;
}

/** A row of CLAIM_DELIVERIES. */
export type DeliveryRow = RowOf<
  Omit<ClaimedDelivery, 'askedAtMs'>,
  'id' | 'workspaceId' | 'webhookId' | 'eventId'
>;

/** @param askedAtMs `suspensionProofNowMs()` before the claim was sent */
export function claimedDelivery(row: DeliveryRow, askedAtMs: number): ClaimedDelivery {
  return {
    ...row,
    askedAtMs,
    id: idFromUuid('dlv', row.id),
    workspaceId: idFromUuid('wrk', row.workspaceId),
    webhookId: idFromUuid('wh', row.webhookId),
    eventId: idFromUuid('evt', row.eventId),
  };
}

/** A row of READ_RECEIVERS. */
export type ReceiverRow = RowOf<Omit<Receiver, 'health'>, 'id'> & ReceiverHealth;

/** The receiver in a row; its tokens are still encrypted. */
export function receiver(row: ReceiverRow): Receiver {
  const { id, url, sealedToken, sealedPreviousToken, status, asOf, ...health } = row;
  return { id: idFromUuid('wh', id), url, sealedToken, sealedPreviousToken, status, asOf, health };
}
