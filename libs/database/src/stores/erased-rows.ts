import { idFromUuid, type WorkspaceId } from '@posthorn/kernel';
import type pg from 'pg';
import { CANCEL_EMAIL } from '../sql/email-changes.ts';
import { CANCEL_DUE } from '../sql/erasure.ts';
import { FINISHED_OF, REMOVE_DELIVERIES, REMOVE_EMAILS } from '../sql/retention.ts';
import { deliveriesOf, idsOf, removeFinishedEvents, removeFrom, type TableCounts } from './removed-rows.ts';

/** What one step did to a person's rows. */
export interface ErasedRows {
  readonly deleted: TableCounts;
  /** How many due emails or deliveries were cancelled. */
  readonly cancelled: number;
  /** How many could not be removed, because they are being sent at the moment. */
  readonly inProgress: number;
  readonly workspaceIds: readonly WorkspaceId[];
}

/** An email to the person. */
export interface EmailTo {
  readonly id: string;
  readonly workspaceId: string;
  readonly status: string;
}

/** An event that is about the person. */
export interface EventAbout {
  readonly id: string;
  readonly workspaceId: string;
  readonly payload: string;
}

/** The result of a step that found nothing. */
export const NOTHING_ERASED: ErasedRows = { deleted: {}, cancelled: 0, inProgress: 0, workspaceIds: [] };

/** @param workspaces the UUIDs of the rows' workspaces, in any order, with repetitions */
export function erasedRows(
  deleted: TableCounts,
  cancelled: number,
  inProgress: number,
  workspaces: readonly string[],
): ErasedRows {
  const workspaceIds = [...new Set(workspaces)].map((uuid) => idFromUuid('wrk', uuid));
  return { deleted, cancelled, inProgress, workspaceIds };
}

/**
 * Cancels those of these emails that are scheduled, so that they do not count towards the monthly limit any more. Each in a transaction of its own, because
 * accepting waits for the usage row that it locks.
 *
 * @returns how many
 */
export async function cancelScheduled(pool: pg.Pool, emails: readonly EmailTo[]): Promise<number> {
  let cancelled = 0;
  for (const { id, workspaceId } of emails.filter(({ status }) => status === 'SCHEDULED'))
    cancelled += (await pool.query(CANCEL_EMAIL, [id, workspaceId])).rowCount ?? 0;
  return cancelled;
}

/** Removes emails in a transaction, and cancels what is due of them. */
export async function removeEmailsOn(client: pg.ClientBase, emails: readonly EmailTo[]): Promise<ErasedRows> {
  const ids = emails.map(({ id }) => id);
  const cancelled = (await client.query(CANCEL_DUE, [ids])).rowCount ?? 0;
  const finished = await idsOf(client, FINISHED_OF, [ids]);
  return erasedRows(
    await removeFrom(client, REMOVE_EMAILS, finished),
    cancelled,
    ids.length - finished.length,
    emails.map(({ workspaceId }) => workspaceId),
  );
}

/**
 * Removes events in a transaction, with their deliveries. If a delivery of an event is being posted, the event and that delivery are kept;
 * its other deliveries are removed: cancelled ones are not due any more, and nobody else would ever finish them if this run were the last.
 */
export async function removeEventsOn(
  client: pg.ClientBase,
  events: readonly EventAbout[],
): Promise<ErasedRows> {
  const ids = events.map(({ id }) => id);
  const deliveries = await deliveriesOf(client, ids);
  const deliveryIds = deliveries.map(({ id }) => id);
  const cancelled = (await client.query(CANCEL_DUE, [[...ids, ...deliveryIds]])).rowCount ?? 0;
  const finished = await idsOf(client, FINISHED_OF, [deliveryIds]);
  const removedDeliveries = await removeFrom(client, REMOVE_DELIVERIES, finished);
  const { removed, stay } = await removeFinishedEvents(client, ids, deliveries, []);
  return erasedRows(
    { ...removed, ...removedDeliveries },
    cancelled,
    stay,
    events.map(({ workspaceId }) => workspaceId),
  );
}
