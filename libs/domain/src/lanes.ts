import { parseId, type WebhookId, type WorkspaceId } from '@posthorn/kernel';

declare const brand: unique symbol;

/**
 * The unit of fairness: rows of the outbox that wait together. Lanes are served round robin, so that no lane waits for longer than a turn of the others: see
 * docs/architecture.md.
 */
export type LaneId = string & { readonly [brand]: 'lane' };

/** A request to claim up to `maxRows` rows of a lane. */
export interface LaneDemand {
  readonly laneId: LaneId;
  readonly maxRows: number;
}

/** The lane of a workspace's single, unscheduled emails. */
export function nowLane(workspaceId: WorkspaceId): LaneId {
  return `${workspaceId}.now` as LaneId;
}

/** The lane of a workspace's other emails: batches and scheduled ones. */
export function bulkLane(workspaceId: WorkspaceId): LaneId {
  return `${workspaceId}.bulk` as LaneId;
}

/** The lane in which an email of this lane is tried again: single ones neither wait behind batches, nor do they delay new ones. */
export function retryLaneOf(laneId: LaneId): LaneId {
  return laneId.replace(/\.now$/, '.retry') as LaneId;
}

/** The lanes of a workspace's emails. */
export function emailLanes(workspaceId: WorkspaceId): LaneId[] {
  return [...pausableLanes(workspaceId), retryLaneOf(nowLane(workspaceId))];
}

/** The lanes of a workspace's emails that are paused by rows of their own. The pause of single emails also holds their retries. */
export function pausableLanes(workspaceId: WorkspaceId): LaneId[] {
  return [nowLane(workspaceId), bulkLane(workspaceId)];
}

/** The lane of a workspace's events, from which deliveries are created. */
export function eventLane(workspaceId: WorkspaceId): LaneId {
  return `${workspaceId}.events` as LaneId;
}

/** The lane of a webhook's deliveries. */
export function webhookLane(webhookId: WebhookId): LaneId {
  return `${webhookId}` as unknown as LaneId;
}

/** The workspace of a lane of emails or events; undefined for any other lane. */
export function workspaceOfLane(laneId: LaneId): WorkspaceId | undefined {
  return parseId('wrk', laneId.split('.', 1)[0]!);
}

/** The maximum duration of a lease. One that seems to last longer was taken before the clock of the database was set back. */
export const MAX_LEASE_MS = 600_000;

/** All lanes of a queue, where lanes are paused. */
export const EVERY_LANE = '*' as LaneId;

/**
 * Whether an untrusted value (of a job's payload) is a well-formed lane id. Any suffix is: while one release replaces another, processes of both serve the same
 * lanes, and one of them may have a kind of lane that the other does not know.
 */
export function isLaneId(text: unknown): text is LaneId {
  return typeof text === 'string' && /^[a-z]{2,4}_[0-9a-z]{26}(\.[a-z]{1,16})?$/.test(text);
}
