import { type DeliveryId, type EventId, idFromUuid, timeOf, type WebhookId } from '@posthorn/kernel';
import type { AttemptError, DeliveryStatus, EventName } from '@posthorn/domain';
import type { RowOf } from './row-of.ts';

/** A POST, as it is shown. */
export interface ShownAttempt {
  /** As its receiver was told. */
  readonly number: number;
  readonly at: Date;
  readonly statusCode: number | null;
  readonly error: AttemptError | null;
  readonly reason: string | null;
  /** Of the answer; names in lower case. */
  readonly headers: Readonly<Record<string, string>> | null;
  /** How the answer begins. */
  readonly body: string | null;
  readonly durationMs: number;
  /** Its outcome came after the process had lost its claim, and changed nothing. */
  readonly isLate: boolean;
}

/** A delivery, as lists show it. */
export interface ShownDelivery {
  readonly id: DeliveryId;
  readonly webhookId: WebhookId;
  readonly eventId: EventId;
  readonly event: EventName;
  readonly isTest: boolean;
  readonly status: DeliveryStatus;
  /** Whether it is just being posted. */
  readonly isUnderWay: boolean;
  readonly attemptCount: number;
  readonly lastAttempt: Pick<ShownAttempt, 'at' | 'statusCode' | 'error'> | null;
  /** When its event happened. */
  readonly createdAt: Date;
  /** Null: it is finished, just being posted, or held with its webhook. */
  readonly nextAttemptAt: Date | null;
  readonly finishedAt: Date | null;
}

/** A delivery with the bytes that are posted, and its newest attempts, the oldest of these first. */
export interface DeliveryWithAttempts extends ShownDelivery {
  readonly body: string;
  readonly attempts: readonly ShownAttempt[];
}

/** A row of a statement that shows deliveries. */
export type ShownDeliveryRow = RowOf<
  Omit<ShownDelivery, 'lastAttempt' | 'createdAt'>,
  'id' | 'webhookId' | 'eventId'
> & {
  readonly lastAt: Date | null;
  readonly lastStatusCode: number | null;
  readonly lastError: AttemptError | null;
};

/** A delivery out of its row. */
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
