import { newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type EventDataOf, eventLane, type EventName, eventPayload, type LaneId } from '@posthorn/domain';
import { addDueEventLanes } from '../../transactions/due-event-lanes.ts';
import { RECORD_EVENTS } from '../../sql/events.ts';
import { type AnyTransaction, runSql } from '../../transactions/transaction.ts';

/** A new event, of which webhooks may be notified. */
export type NewEvent = {
  [Name in EventName]: {
    readonly workspaceId: WorkspaceId;
    readonly name: Name;
    readonly data: EventDataOf<Name>;
  };
}[EventName];

/** Records events, with their exact payloads, in the transaction of their cause. `nowMs` is the database's time. */
export async function recordEvents(
  transaction: AnyTransaction,
  nowMs: number,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length > 0) await runWithEvents(transaction, RECORD_EVENTS, [eventsAsJson(nowMs, events)]);
}

/** Runs a statement that records events; their lanes are announced after the commit. */
export async function runWithEvents(
  transaction: AnyTransaction,
  sql: string,
  values: readonly string[],
): Promise<void> {
  const due = await runSql<DueLane>(transaction, sql, values);
  addDueEventLanes(
    transaction,
    due.map(({ laneId }) => laneId),
  );
}

interface DueLane {
  readonly laneId: LaneId;
}

/** The JSON parameter of statements that record events. The feed orders those of a transaction by id: here, as they are given. */
export function eventsAsJson(nowMs: number, events: readonly NewEvent[]): string {
  const createdAt = new Date(nowMs);
  const ids = events.map(() => newUuid(nowMs)).sort();
  const rows = events.map(({ workspaceId, name, data }, index) => ({
    id: ids[index],
    workspace_id: uuidOf(workspaceId),
    type: name,
    payload: eventPayload(name, createdAt, data),
    created_at: createdAt,
    lane_id: eventLane(workspaceId),
  }));
  return JSON.stringify(rows);
}
