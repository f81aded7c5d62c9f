import { newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { eventLane, type EventName, eventPayload, type JsonObject } from '@posthorn/domain';
import { RECORD_EVENTS } from './sql/events.ts';

/** Something that happened and that webhooks are told of. */
export interface NewEvent {
  readonly workspaceId: WorkspaceId;
  readonly name: EventName;
  readonly data: JsonObject;
}

/** Runs a statement inside a transaction, be it one of `pg` or one of Prisma. */
export type RunSql = (sql: string, value: string) => Promise<unknown>;

/**
 * Records events in the transaction of what caused them, in the exact bytes that will be posted; whoever commits an
 * operation has committed its events. `nowMs` is the database's time.
 */
export async function recordEvents(run: RunSql, nowMs: number, events: readonly NewEvent[]): Promise<void> {
  if (events.length > 0) await run(RECORD_EVENTS, eventsAsJson(nowMs, events));
}

/** Events, as the statements that record them take them. */
export function eventsAsJson(nowMs: number, events: readonly NewEvent[]): string {
  const createdAt = new Date(nowMs);
  const rows = events.map(({ workspaceId, name, data }) => ({
    id: newUuid(nowMs),
    workspace_id: uuidOf(workspaceId),
    type: name,
    payload: eventPayload(name, createdAt, data),
    created_at: createdAt,
    lane_id: eventLane(workspaceId),
  }));
  return JSON.stringify(rows);
}
