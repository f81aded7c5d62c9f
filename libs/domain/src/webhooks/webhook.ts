import type { WebhookId, WorkspaceId } from '@posthorn/kernel';
import type { EventName } from '../events/events.ts';

/** What each status of a webhook means. */
export const WEBHOOK_STATUSES = {
  ACTIVE: 'events are delivered',
  PAUSED: 'by the workspace; events are held and delivered when it is active again',
  DISABLED: 'by Posthorn, because its receiver is gone; events are held as for a paused one',
} as const;

export type WebhookStatus = keyof typeof WEBHOOK_STATUSES;

/** The statuses that a workspace gives its webhooks. */
export const GIVEN_WEBHOOK_STATUSES = ['ACTIVE', 'PAUSED'] as const;

/** A subscription of a workspace to events, but for its token. */
export interface Webhook {
  readonly id: WebhookId;
  readonly workspaceId: WorkspaceId;
  readonly url: string;
  /** In the order in which they were given, each once. */
  readonly events: readonly EventName[];
  readonly status: WebhookStatus;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What each status of a delivery means. */
export const DELIVERY_STATUSES = {
  PENDING: 'due, being tried, or held with its webhook',
  SUCCEEDED: 'the receiver answered with 2xx',
  EXHAUSTED:
    'its retries are used up; put back by hand, or when its webhook is active again after Posthorn disabled it',
  EXPIRED: 'held for 30 days',
  CANCELLED: 'its webhook was deleted',
} as const;

export type DeliveryStatus = keyof typeof DELIVERY_STATUSES;

/** For how long what is held back with its webhook is kept. */
export const HELD_DAYS = 30;

/** For how long a delivery whose retries are used up is kept, so that it can be sent again. */
export const EXHAUSTED_KEPT_DAYS = 30;

/** How long after the end of their month events and deliveries are kept: held, then tried for days, then finished, and kept for 30 days. */
export const EVENTS_KEPT_DAYS = HELD_DAYS + 5 + EXHAUSTED_KEPT_DAYS;

/** The same where deliveries were put back so late that they were exhausted at the end of that time: a month is not kept for ever. */
export const EVENTS_KEPT_AT_MOST_DAYS = EVENTS_KEPT_DAYS + 95;
