import type { LaneId } from '@posthorn/domain';

/** Which lanes of events a transaction has made due, until it ends. */
const dueIn = new WeakMap<object, Set<LaneId>>();

/** Notes that a transaction has made events due, so that their lanes are rung when it is committed. */
export function addDueEventLanes(transaction: object, laneIds: readonly LaneId[]): void {
  if (laneIds.length === 0) return;
  dueIn.set(transaction, new Set([...(dueIn.get(transaction) ?? []), ...laneIds]));
}

/** Says which lanes have events that are due because a transaction was committed. */
export function announceDueEvents(
  { onEventsDue }: { readonly onEventsDue: (laneIds: readonly LaneId[]) => void },
  transaction: object,
): void {
  const laneIds = dueIn.get(transaction);
  dueIn.delete(transaction);
  if (laneIds !== undefined) onEventsDue([...laneIds]);
}
