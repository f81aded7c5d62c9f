import { type DeliveryId, type EventId, idFromUuid, timeOf, type WebhookId } from '@posthorn/kernel';
import type { AttemptError, DeliveryStatus, EventName } from '@posthorn/domain';
import type { RowOf } from '../row-of.ts';

/** A POST of a delivery. */
export interface ShownAttempt {
  /** The attempt number sent to the receiver. */
  readonly number: number;
  readonly at: Date;
  readonly statusCode: number | null;
  readonly error: AttemptError | null;
  readonly reason: string | null;
  /** The headers of the response; names in lower case. */
  readonly headers: Readonly<Record<string, string>> | null;
  /** The beginning of the response body. */
  readonly body: string | null;
  readonly durationMs: number;
  /** Its outcome arrived after the process had lost its claim, and changed nothing. */
  readonly isLate: boolean;
}

/** A delivery as shown in lists. */
export interface ShownDelivery {
  readonly id: DeliveryId;
  readonly webhookId: WebhookId;
  readonly eventId: EventId;
  readonly event: EventName;
  readonly isTest: boolean;
  readonly status: DeliveryStatus;
  /** Whether it is being posted at the moment. */
  readonly isUnderWay: boolean;
  readonly attemptCount: number;
  readonly lastAttempt: Pick<ShownAttempt, 'at' | 'statusCode' | 'error'> | null;
  /** When its event happened. */
  readonly createdAt: Date;
  /** Null: it is finished, being posted, or paused with its webhook. */
  readonly nextAttemptAt: Date | null;
  readonly finishedAt: Date | null;
}

/** A delivery with the bytes that are posted, and its newest attempts in chronological order. */
export interface DeliveryWithAttempts extends ShownDelivery {
  readonly body: string;
  readonly attempts: readonly ShownAttempt[];
}

/** A delivery as returned by statements. */
export type ShownDeliveryRow = RowOf<
  Omit<ShownDelivery, 'lastAttempt' | 'createdAt'>,
  'id' | 'webhookId' | 'eventId'
> & {
  readonly lastAt: Date | null;
  readonly lastStatusCode: number | null;
  readonly lastError: AttemptError | null;
};

/** Converts a row to a delivery. */
export function shownDelivery(row: ShownDeliveryRow): ShownDelivery {
  const { event, isTest, status, isUnderWay, attemptCount, nextAttemptAt, finishedAt } = row;
  const id = idFromUuid('dlv', row.id);
  const { lastAt: at, lastStatusCode: statusCode, lastError: error } = row;
  return {
    id,
    webhookId: idFromUuid('wh', row.webhookId),
    eventId: idFromUuid('evt', row.eventId),
    event,
    isTest,
    status,
    isUnderWay,
    attemptCount,
    lastAttempt: at && { at, statusCode, error },
    createdAt: new Date(timeOf(id)),
    nextAttemptAt,
    finishedAt,
  };
}
