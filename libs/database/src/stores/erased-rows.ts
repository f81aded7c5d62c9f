import { idFromUuid, type WorkspaceId } from '@posthorn/kernel';
import type pg from 'pg';
import { CANCEL_EMAIL } from '../sql/email-changes.ts';
import { TAKE_BACK } from '../sql/erasure.ts';
import {
  DELIVERIES_OF,
  FINISHED_OF,
  REMOVE_DELIVERIES,
  REMOVE_EMAILS,
  REMOVE_EVENTS,
  REMOVE_KNOWN_OF_EMAILS,
} from '../sql/retention.ts';

/** How many rows of which table. */
export type TableCounts = Record<string, number>;

/** What became of a person's rows in one step. */
export interface ErasedRows {
  readonly deleted: TableCounts;
  /** How many emails or deliveries were still due, and are not any more. */
  readonly takenBack: number;
  /** How many could not go: somebody is just sending them. */
  readonly inHand: number;
  readonly workspaceIds: readonly WorkspaceId[];
}

/** An email to the person. */
export interface FoundEmail {
  readonly id: string;
  readonly workspaceId: string;
  readonly status: string;
}

/** An event that is about the person. */
export interface FoundEvent {
  readonly id: string;
  readonly workspaceId: string;
  readonly payload: string;
}

/** Of a step that found none. */
export const NOTHING_ERASED: ErasedRows = { deleted: {}, takenBack: 0, inHand: 0, workspaceIds: [] };

/** @param workspaces the UUIDs of those whose rows they were, in any order, with repetitions */
export function erasedRows(
  deleted: TableCounts,
  takenBack: number,
  inHand: number,
  workspaces: readonly string[],
): ErasedRows {
  const workspaceIds = [...new Set(workspaces)].map((uuid) => idFromUuid('wrk', uuid));
  return { deleted, takenBack, inHand, workspaceIds };
}

function byWorkspace(one: FoundEmail, other: FoundEmail): number {
  if (one.workspaceId === other.workspaceId) return 0;
  return one.workspaceId < other.workspaceId ? -1 : 1;
}

async function idsOf(client: pg.ClientBase, sql: string, values: unknown[]): Promise<string[]> {
  return (await client.query<{ id: string }>(sql, values)).rows.map(({ id }) => id);
}

/**
 * Removes emails in a transaction. Scheduled ones are cancelled first, which gives their places in the monthly limit back, and in the
 * order of their workspaces: accepting locks what these have used in that order, too.
 */
export async function removeEmailsOn(
  client: pg.ClientBase,
  emails: readonly FoundEmail[],
): Promise<ErasedRows> {
  const ids = emails.map(({ id }) => id);
  let takenBack = 0;
  const scheduled = emails.filter(({ status }) => status === 'SCHEDULED');
  for (const { id, workspaceId } of scheduled.toSorted(byWorkspace)) {
    takenBack += (await client.query(CANCEL_EMAIL, [id, workspaceId])).rowCount ?? 0;
  }
  takenBack += (await client.query(TAKE_BACK, [ids])).rowCount ?? 0;
  const finished = await idsOf(client, FINISHED_OF, [ids]);
  const deleted: TableCounts = { emails: (await client.query(REMOVE_EMAILS, [finished])).rowCount ?? 0 };
  for (const [place, sql] of REMOVE_KNOWN_OF_EMAILS.entries()) {
    const table = ['email_contents', 'email_events', 'email_engagements'][place]!;
    deleted[table] = (await client.query(sql, [finished])).rowCount ?? 0;
  }
  return erasedRows(
    deleted,
    takenBack,
    ids.length - finished.length,
    emails.map(({ workspaceId }) => workspaceId),
  );
}

/** Removes events in a transaction, with their deliveries; those of which one is just being posted stay. */
export async function removeEventsOn(
  client: pg.ClientBase,
  events: readonly FoundEvent[],
): Promise<ErasedRows> {
  const ids = events.map(({ id }) => id);
  const { rows: deliveries } = await client.query<{ id: string; eventId: string }>(DELIVERIES_OF, [ids]);
  const all = [...ids, ...deliveries.map(({ id }) => id)];
  const takenBack = (await client.query(TAKE_BACK, [all])).rowCount ?? 0;
  const free = new Set(await idsOf(client, FINISHED_OF, [all]));
  const held = new Set(deliveries.filter(({ id }) => !free.has(id)).map(({ eventId }) => eventId));
  const goes = ids.filter((id) => free.has(id) && !held.has(id));
  const theirs = deliveries.filter(({ eventId }) => goes.includes(eventId)).map(({ id }) => id);
  const deleted: TableCounts = {};
  for (const [place, sql] of REMOVE_DELIVERIES.entries())
    deleted[['webhook_deliveries', 'webhook_attempts'][place]!] =
      (await client.query(sql, [theirs])).rowCount ?? 0;
  deleted['events'] = (await client.query(REMOVE_EVENTS, [goes])).rowCount ?? 0;
  return erasedRows(
    deleted,
    takenBack,
    ids.length - goes.length,
    events.map(({ workspaceId }) => workspaceId),
  );
}
