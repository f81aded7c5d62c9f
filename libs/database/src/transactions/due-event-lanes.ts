import type { LaneId } from '@posthorn/domain';

/** A row of a statement that records events. */
export interface WithEventLanes {
  /** The lanes in which events are due; null: none. */
  readonly eventLanes: readonly LaneId[] | null;
}

/** The event lanes that each open transaction has made due. */
const dueIn = new WeakMap<object, Set<LaneId>>();

/** Remembers that a transaction has made events due in these lanes (null: none), so that they are announced after its commit. */
export function addDueEventLanes(transaction: object, laneIds: readonly LaneId[] | null): void {
  if (laneIds === null || laneIds.length === 0) return;
  dueIn.set(transaction, new Set([...(dueIn.get(transaction) ?? []), ...laneIds]));
}

/** Announces, after a commit, the lanes in which the transaction has made events due. */
export function announceDueEvents(
  { onEventsDue }: { readonly onEventsDue: (laneIds: readonly LaneId[]) => void },
  transaction: object,
): void {
  const laneIds = dueIn.get(transaction);
  dueIn.delete(transaction);
  if (laneIds !== undefined) onEventsDue([...laneIds]);
}
