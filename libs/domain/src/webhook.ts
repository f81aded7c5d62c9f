import { type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import { type EventName } from './events.ts';

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
