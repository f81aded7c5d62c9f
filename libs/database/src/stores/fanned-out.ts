import { type LaneId } from '@posthorn/domain';
import { type ClaimedDelivery, claimedDelivery, type DeliveryRow } from './claimed-delivery.ts';

/** What fanning out did to a lane of events, or of a webhook. */
export interface FannedOutLane {
  readonly queue: 'event' | 'webhook';
  readonly laneId: LaneId;
  /** Events that became deliveries, or deliveries that were made and not claimed. */
  readonly rows: number;
  /** Of a lane of events: whether there may be more. */
  readonly hasMore: boolean;
  /** Of a lane of a webhook: whether its receiver lets us wait. */
  readonly isSlow: boolean;
}

/** What fanning out came to. */
export interface FannedOut {
  /** The lanes of events, and those of webhooks in which something is ready now. */
  readonly lanes: readonly FannedOutLane[];
  /** How many deliveries were made in all. */
  readonly made: number;
  /** Those that were claimed with it. */
  readonly claimed: readonly ClaimedDelivery[];
}

/** A row of FAN_OUT_EVENTS: a delivery, or a lane of events. */
export type FannedOutRow = { readonly laneId: LaneId; readonly rows: number; readonly hasMore: boolean } & (
  | { readonly id: null }
  | ({ readonly isSlow: boolean; readonly isClaimed: false; readonly id: string } & Partial<DeliveryRow>)
  | ({ readonly isSlow: boolean; readonly isClaimed: true } & DeliveryRow)
);

/** What the rows of FAN_OUT_EVENTS say. */
export function fannedOut(rows: readonly FannedOutRow[]): FannedOut {
  const ready = new Map<LaneId, FannedOutLane>();
  const events: FannedOutLane[] = [];
  const claimed: ClaimedDelivery[] = [];
  for (const row of rows) {
    const { laneId, hasMore } = row;
    if (row.id === null) events.push({ queue: 'event', laneId, rows: row.rows, hasMore, isSlow: false });
    else if (row.isClaimed) claimed.push(claimedAtOnce(row));
    else {
      const others = ready.get(laneId)?.rows ?? 0;
      ready.set(laneId, { queue: 'webhook', laneId, rows: others + 1, hasMore, isSlow: row.isSlow });
    }
  }
  return { lanes: [...events, ...ready.values()], made: rows.length - events.length, claimed };
}

function claimedAtOnce({ laneId, bytes, id, ...row }: DeliveryRow): ClaimedDelivery {
  const { workspaceId, webhookId, eventId, event, isTest, payload, traceparent } = row;
  const facts = { id, workspaceId, webhookId, eventId, event, isTest, payload, traceparent };
  const claim = { claims: 1, attempts: 0, attemptsMade: 0, laneHasMore: false };
  return claimedDelivery({ ...facts, ...claim, laneId, bytes });
}
