import type { LaneId } from '@posthorn/domain';
import { type ClaimedDelivery, claimedDelivery, type DeliveryRow } from './claimed-delivery.ts';
import type { LaneDemand } from './claim.ts';

/** What fanning out did to a lane of events, or of a webhook. */
export interface FannedOutLane {
  readonly queue: 'event' | 'webhook';
  readonly laneId: LaneId;
  /** Events that became deliveries, or deliveries that were made and not claimed. */
  readonly rows: number;
  /** Of a lane of events: whether there may be more. */
  readonly hasMore: boolean;
  /** Of a lane of a webhook: whether its receiver keeps us waiting. */
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

/** A row of LOCK_DUE_EVENTS. */
export interface DueEvent {
  readonly id: string;
  readonly laneId: LaneId;
}

/** A row of FAN_OUT_EVENTS. */
export type FannedOutRow = { readonly laneId: LaneId; readonly isSlow: boolean } & (
  ({ readonly isClaimed: false } & Partial<DeliveryRow>) | ({ readonly isClaimed: true } & DeliveryRow)
);

/**
 * What became of due events.
 *
 * @param demands as they were asked for
 * @param rows the deliveries that were made
 */
export function fannedOut(
  demands: readonly LaneDemand[],
  due: readonly DueEvent[],
  rows: readonly FannedOutRow[],
): FannedOut {
  const ready = new Map<LaneId, FannedOutLane>();
  const claimed: ClaimedDelivery[] = [];
  for (const row of rows) {
    if (row.isClaimed) {
      claimed.push(claimedAtOnce(row));
      continue;
    }
    const { laneId, isSlow } = row;
    const others = ready.get(laneId)?.rows ?? 0;
    ready.set(laneId, { queue: 'webhook', laneId, rows: others + 1, hasMore: false, isSlow });
  }
  return { lanes: [...lanesOfEvents(demands, due), ...ready.values()], made: rows.length, claimed };
}

/** Those in which something was due. */
function lanesOfEvents(demands: readonly LaneDemand[], due: readonly DueEvent[]): FannedOutLane[] {
  const ofLane = Map.groupBy(due, ({ laneId }) => laneId);
  return demands.flatMap(({ laneId, maxRows }) => {
    const rows = ofLane.get(laneId)?.length ?? 0;
    return rows === 0 ? [] : { queue: 'event', laneId, rows, hasMore: rows >= maxRows, isSlow: false };
  });
}

function claimedAtOnce(row: DeliveryRow): ClaimedDelivery {
  const { id, laneId, bytes, workspaceId, webhookId, eventId, event, isTest, payload, traceparent } = row;
  return claimedDelivery({
    id,
    laneId,
    bytes,
    workspaceId,
    webhookId,
    eventId,
    event,
    isTest,
    payload,
    traceparent,
    claims: 1,
    attempts: 0,
    attemptsMade: 0,
    laneHasMore: false,
  });
}
