import type pg from 'pg';
import { CANCEL_DUE, DELIVERIES_AMONG, LOCK_FINISHED_DELIVERIES } from '../../sql/erasure.ts';
import {
  DELIVERIES_OF,
  FINISHED_OF,
  REMOVE_DELIVERIES,
  REMOVE_EMAILS,
  REMOVE_EVENTS,
} from '../../sql/retention.ts';
import { addCounts, type TableCounts } from './table-counts.ts';

/** What became of rows that were to be removed although they may be due. */
export interface RemovedRows {
  readonly deleted: TableCounts;
  /** How many due emails, events or deliveries were cancelled. */
  readonly cancelled: number;
  /** How many emails or events could not be removed, because they are being processed at the moment. */
  readonly inProgress: number;
}

/** The values of the column `id` that a statement returns. */
export async function idsOf(client: pg.ClientBase, sql: string, values: unknown[]): Promise<string[]> {
  return (await client.query<{ id: string }>(sql, values)).rows.map(({ id }) => id);
}

/** Removes rows from one table after another. @returns how many from each */
export async function removeFrom(
  client: pg.ClientBase,
  statements: Readonly<Record<string, string>>,
  ids: readonly string[],
): Promise<TableCounts> {
  const removed: TableCounts = {};
  for (const [table, sql] of Object.entries(statements))
    removed[table] = (await client.query(sql, [ids])).rowCount ?? 0;
  return removed;
}

interface DeliveryOfEvent {
  readonly id: string;
  readonly eventId: string;
}

/** The deliveries that events have or may have. */
export async function deliveriesOf(
  client: pg.ClientBase,
  eventIds: readonly string[],
): Promise<DeliveryOfEvent[]> {
  return (await client.query<DeliveryOfEvent>(DELIVERIES_OF, [eventIds])).rows;
}

/**
 * Removes events with their deliveries, except those with anything due or with a delivery that is needed.
 *
 * @param deliveries those of the events
 * @param needed the ids of deliveries that are needed
 * @returns how many rows were removed by table, and how many events were kept
 */
export async function removeFinishedEvents(
  client: pg.ClientBase,
  eventIds: readonly string[],
  deliveries: readonly DeliveryOfEvent[],
  needed: readonly string[],
): Promise<{ readonly removed: TableCounts; readonly stay: number }> {
  const all = [...eventIds, ...deliveries.map(({ id }) => id)];
  const free = new Set(await idsOf(client, FINISHED_OF, [all]));
  for (const id of needed) free.delete(id);
  const held = deliveries.filter(({ id }) => !free.has(id)).map(({ eventId }) => eventId);
  const stays = new Set([...held, ...eventIds.filter((id) => !free.has(id))]);
  const theirs = deliveries.filter(({ eventId }) => !stays.has(eventId)).map(({ id }) => id);
  const goes = eventIds.filter((id) => !stays.has(id));
  const removed = await removeFrom(client, REMOVE_DELIVERIES, theirs);
  return { removed: { ...removed, ...(await removeFrom(client, REMOVE_EVENTS, goes)) }, stay: stays.size };
}

/** Removes emails, and cancels those that are due. */
export async function removeEmails(client: pg.ClientBase, ids: readonly string[]): Promise<RemovedRows> {
  const cancelled = (await client.query(CANCEL_DUE, [ids])).rowCount ?? 0;
  const finished = await idsOf(client, FINISHED_OF, [ids]);
  const deleted = await removeFrom(client, REMOVE_EMAILS, finished);
  return { deleted, cancelled, inProgress: ids.length - finished.length };
}

/**
 * Removes events with their deliveries. If a delivery of an event is being posted, or is made due again at that moment, the event and that delivery are kept; its
 * other deliveries are removed: cancelled ones are not due any more, and nobody else would ever finish them.
 */
export async function removeEvents(client: pg.ClientBase, ids: readonly string[]): Promise<RemovedRows> {
  const deliveries = await deliveriesOf(client, ids);
  const deliveryIds = deliveries.map(({ id }) => id);
  const cancelled = (await client.query(CANCEL_DUE, [[...ids, ...deliveryIds]])).rowCount ?? 0;
  const locked = await idsOf(client, LOCK_FINISHED_DELIVERIES, [deliveryIds]);
  const finished = await idsOf(client, FINISHED_OF, [locked]);
  const deleted = await removeFrom(client, REMOVE_DELIVERIES, finished);
  const left = await idsOf(client, DELIVERIES_AMONG, [deliveryIds]);
  const { removed, stay } = await removeFinishedEvents(client, ids, deliveries, left);
  addCounts(deleted, removed);
  return { deleted, cancelled, inProgress: stay };
}
