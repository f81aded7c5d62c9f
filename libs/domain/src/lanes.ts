import type { WebhookId, WorkspaceId } from '@posthorn/kernel';

declare const brand: unique symbol;

/** What is served turn by turn, so that no work has to wait for more than a turn of another's: see docs/architecture.md. */
export type LaneId = string & { readonly [brand]: 'lane' };

/** The lane of a workspace's single, unscheduled emails. */
export function nowLane(workspaceId: WorkspaceId): LaneId {
  return `${workspaceId}.now` as LaneId;
}

/** The lane of a workspace's other emails: batches, scheduled ones and those that are tried again. */
export function bulkLane(workspaceId: WorkspaceId): LaneId {
  return `${workspaceId}.bulk` as LaneId;
}

/** The lane of a workspace's events, before they become deliveries. */
export function eventLane(workspaceId: WorkspaceId): LaneId {
  return `${workspaceId}.events` as LaneId;
}

/** The lane of what is to be delivered to a webhook. */
export function webhookLane(webhookId: WebhookId): LaneId {
  return `${webhookId}` as unknown as LaneId;
}

/** How long a lease may last when it is taken. What seems to be held for longer was taken before the clock of the database was set back. */
export const MAX_LEASE_MS = 600_000;

/** Stands for all lanes of a queue where lanes are paused. */
export const EVERY_LANE = '*' as LaneId;

/** Whether a text from outside (a job's payload) can be a lane. */
export function isLaneId(text: unknown): text is LaneId {
  return typeof text === 'string' && /^[a-z]{2,4}_[0-9a-z]{26}(\.now|\.bulk|\.events)?$/.test(text);
}
