import type { WebhookId, WorkspaceId } from '@posthorn/kernel';
import type { EventName } from '../events/events.ts';

/** The statuses of a webhook, with their meanings. */
export const WEBHOOK_STATUSES = {
  ACTIVE: 'events are delivered',
  PAUSED: 'events are held, as the workspace wishes, and delivered when it is active again',
  DISABLED: 'events are held, because Posthorn found its receiver gone',
} as const;

export type WebhookStatus = keyof typeof WEBHOOK_STATUSES;

/** The statuses that a workspace can set. */
export const ASSIGNABLE_WEBHOOK_STATUSES = ['ACTIVE', 'PAUSED'] as const;

/** A subscription of a workspace to events, without its token. */
export interface Webhook {
  readonly id: WebhookId;
  readonly workspaceId: WorkspaceId;
  readonly url: string;
  /** In the order given, without duplicates. */
  readonly events: readonly EventName[];
  readonly status: WebhookStatus;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The statuses of a delivery, with their meanings. */
export const DELIVERY_STATUSES = {
  PENDING: 'due, being tried, or held with its webhook',
  SUCCEEDED: 'the receiver answered with 2xx',
  EXHAUSTED:
    'its retries are used up; put back by hand, or when its webhook is active again after Posthorn disabled it',
  EXPIRED: 'held for 30 days',
  CANCELLED: 'its webhook was deleted',
} as const;

export type DeliveryStatus = keyof typeof DELIVERY_STATUSES;

/** How long deliveries are held while their webhook is paused or disabled. */
export const HELD_DAYS = 30;

/** How long a delivery whose retries are exhausted is kept, so that it can be sent again. */
export const EXHAUSTED_KEPT_DAYS = 30;

/** How long events and deliveries are kept after the end of their month: held for 30 days, retried for some days, then kept for another 30. */
export const EVENTS_KEPT_DAYS = HELD_DAYS + 5 + EXHAUSTED_KEPT_DAYS;

/** The maximum for months with deliveries that were put back late and were therefore exhausted only at the end of that time. */
export const MAX_EVENTS_KEPT_DAYS = EVENTS_KEPT_DAYS + 95;
