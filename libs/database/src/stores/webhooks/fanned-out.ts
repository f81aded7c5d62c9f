import type { LaneDemand, LaneId } from '@posthorn/domain';
import type { LaneRow } from '../outbox/read-starts.ts';
import { type ClaimedDelivery, claimedDelivery, type DeliveryRow } from './claimed-delivery.ts';

/** An event lane in which something was due. */
interface FannedOutLane {
  readonly laneId: LaneId;
  /** How many events were fanned out. */
  readonly events: number;
  /** Whether there may be more due events. */
  readonly hasMore: boolean;
}

/** A webhook lane with new deliveries that were not claimed. */
interface ReadyLane {
  readonly laneId: LaneId;
  readonly deliveries: number;
  /** Whether its receiver is slow. */
  readonly isSlow: boolean;
}

/** The result of fanning out events. */
export interface FannedOut {
  readonly lanes: readonly FannedOutLane[];
  readonly ready: readonly ReadyLane[];
  /** The deliveries claimed in the same statement. */
  readonly claimed: readonly ClaimedDelivery[];
  /** How many deliveries were created in total. */
  readonly made: number;
}

/** A row of LOCK_DUE_EVENTS. */
export interface DueEvent extends LaneRow {
  readonly id: string;
}

/** The state of a delivery that is claimed in the statement that creates it. */
const JUST_CLAIMED = { claims: 1, attempts: 0, attemptsMade: 0, laneHasMore: false };

/** A row of FAN_OUT_EVENTS. */
export type FannedOutRow = { readonly laneId: LaneId; readonly isSlow: boolean } & (
  | { readonly isClaimed: false }
  | ({ readonly isClaimed: true } & Omit<DeliveryRow, keyof typeof JUST_CLAIMED>)
);

/**
 * Builds the result of fanning out.
 *
 * @param rows the deliveries that were created
 * @param askedAtMs `suspensionProofNowMs()` before the first statement
 */
export function fannedOut(
  demands: readonly LaneDemand[],
  due: readonly DueEvent[],
  rows: readonly FannedOutRow[],
  askedAtMs: number,
): FannedOut {
  const eventsOf = Map.groupBy(due, ({ laneId }) => laneId);
  const readyOf = Map.groupBy(
    rows.filter(({ isClaimed }) => !isClaimed),
    ({ laneId }) => laneId,
  );
  return {
    lanes: demands.flatMap(({ laneId, maxRows }) => {
      const events = eventsOf.get(laneId)?.length ?? 0;
      return events === 0 ? [] : { laneId, events, hasMore: events >= maxRows };
    }),
    ready: [...readyOf].map(([laneId, deliveries]) => ({
      laneId,
      deliveries: deliveries.length,
      isSlow: deliveries[0]!.isSlow,
    })),
    claimed: rows
      .filter((row) => row.isClaimed)
      .map((row) => claimedDelivery({ ...row, ...JUST_CLAIMED }, askedAtMs)),
    made: rows.length,
  };
}
