import {
  type DeliveryId,
  type EventId,
  idFromUuid,
  type WebhookId,
  type WorkspaceId,
} from '@posthorn/kernel';
import type { EventName, LaneId, PostErrorClass, ReceiverHealth, WebhookStatus } from '@posthorn/domain';
import type { Claim, ClaimedRow } from './claim.ts';
import type { RowOf } from './row-of.ts';

/** A delivery that was claimed, with the bytes that are posted. */
export interface ClaimedDelivery extends ClaimedRow {
  readonly id: DeliveryId;
  readonly workspaceId: WorkspaceId;
  readonly webhookId: WebhookId;
  readonly eventId: EventId;
  readonly event: EventName;
  readonly payload: string;
  /** Whether the event is an example, by which somebody tries the webhook. */
  readonly isTest: boolean;
  /** Attempts recorded before, in all. */
  readonly attemptsMade: number;
  /** The place in its trace of what caused the event; null: it is not known. */
  readonly traceparent: string | null;
}

/** Where and with what a webhook is posted to, as of a moment. */
export interface Receiver {
  readonly id: WebhookId;
  readonly url: string;
  /** Encrypted for the place `SEALED_COLUMNS.webhookToken`. */
  readonly sealedToken: Buffer;
  /** The one before, encrypted for its own place, while what is posted is signed with it too; else null. */
  readonly sealedPreviousToken: Buffer | null;
  readonly status: WebhookStatus;
  /** When it was last changed, as the database writes it: what was learnt before that says nothing about it now. */
  readonly asOf: string;
  readonly health: ReceiverHealth;
}

/** One POST, as it is kept. */
export interface DeliveryAttempt {
  readonly number: number;
  readonly durationMs: number;
  readonly statusCode?: number | undefined;
  readonly errorClass?: PostErrorClass | undefined;
  /** A sentence for the people of the workspace. */
  readonly reason?: string | undefined;
  /** Of the answer; names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How the answer begins. */
  readonly body?: string | undefined;
}

/** What kept a claimed delivery from being posted, and was our own doing. */
export interface OwnFault extends Claim {
  readonly id: DeliveryId;
  /** Which attempt it would have been. */
  readonly number: number;
  readonly durationMs: number;
}

/** What became of a claimed delivery; see RECORD_DELIVERIES for what each field does. */
export interface DeliveryOutcome extends Claim {
  readonly id: DeliveryId;
  readonly laneId: LaneId;
  /** The delivery's new status; null: unchanged. */
  readonly status: 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED' | null;
  /** When it is tried again, counted from the record; null: it is finished. */
  readonly retryAfterMs: number | null;
  /** Its step in the retry table when it is tried again. */
  readonly steps: number;
  /** Null: it costs none. */
  readonly attempt: DeliveryAttempt | null;
}

/** A row of CLAIM_DELIVERIES. */
export type DeliveryRow = RowOf<ClaimedDelivery, 'id' | 'workspaceId' | 'webhookId' | 'eventId'>;

/** The delivery in a row. */
export function claimedDelivery(row: DeliveryRow): ClaimedDelivery {
  return {
    ...row,
    id: idFromUuid('dlv', row.id),
    workspaceId: idFromUuid('wrk', row.workspaceId),
    webhookId: idFromUuid('wh', row.webhookId),
    eventId: idFromUuid('evt', row.eventId),
  };
}

/** A row of READ_RECEIVERS. */
export interface ReceiverRow extends ReceiverHealth {
  readonly id: string;
  readonly url: string;
  readonly token: Uint8Array;
  readonly previousToken: Uint8Array | null;
  readonly status: WebhookStatus;
  readonly asOf: string;
}

/** The receiver in a row; its tokens are still encrypted. */
export function receiver({ id, url, token, previousToken, status, asOf, ...health }: ReceiverRow): Receiver {
  return {
    id: idFromUuid('wh', id),
    url,
    status,
    asOf,
    health,
    sealedToken: Buffer.from(token),
    sealedPreviousToken: previousToken && Buffer.from(previousToken),
  };
}
