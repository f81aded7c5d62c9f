import type { LaneId } from '@posthorn/domain';
import { type ClaimedDelivery, claimedDelivery, type DeliveryRow } from './claimed-delivery.ts';
import type { LaneDemand } from './claim.ts';

/** The effect of fanning out on an event lane or a webhook lane. */
export interface FannedOutLane {
  readonly queue: 'event' | 'webhook';
  readonly laneId: LaneId;
  /** Of an event lane: events fanned out. Of a webhook lane: new deliveries that were not claimed. */
  readonly rows: number;
  /** Of an event lane: whether there may be more due events. */
  readonly hasMore: boolean;
  /** Of a webhook lane: whether its receiver is slow. */
  readonly isSlow: boolean;
}

/** The result of fanning out events. */
export interface FannedOut {
  /** The event lanes, and the webhook lanes that have new ready rows. */
  readonly lanes: readonly FannedOutLane[];
  /** How many deliveries were created in total. */
  readonly made: number;
  /** The deliveries claimed in the same statement. */
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

/** Builds the result of fanning out. @param rows the deliveries that were created */
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

/** The event lanes in which something was due. */
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
