import {
  type DeliveryId,
  idFromUuid,
  newUuid,
  uuidOf,
  type WebhookId,
  type WorkspaceId,
} from '@posthorn/kernel';
import { type DeliveryStatus, type EventName, eventShape } from '@posthorn/domain';
import type { Stack } from './stack.ts';

/** A valid body for events that tests record themselves. */
export function somePayload(event: EventName): string {
  return JSON.stringify(eventShape(event).example);
}

/** The properties of a delivery that a test adds. */
export interface WantedDelivery {
  /** Default: `EXHAUSTED`. There was one attempt, which was answered 204 if it succeeded, and otherwise 500. */
  readonly status?: DeliveryStatus;
  /** When its event happened. Default: now. */
  readonly atMs?: number;
  readonly event?: EventName;
}

/** Creates the partitions of a month for these tables: past months have none unless something happened then. */
export async function makeMonthOf(stack: Stack, at: Date, tables: readonly string[]): Promise<void> {
  await stack.database.pool.query(
    `SELECT make_partition(parent, date_trunc('month', $1::timestamptz AT TIME ZONE 'UTC')) FROM unnest($2::text[]) AS parent`,
    [at, tables],
  );
}

/** Records an event with a finished delivery to a webhook, as if it had been posted. */
export async function addDelivery(
  stack: Stack,
  workspaceId: WorkspaceId,
  webhookId: WebhookId,
  { status = 'EXHAUSTED', atMs = Date.now(), event = 'CONTACT_CREATED' }: WantedDelivery = {},
): Promise<DeliveryId> {
  await makeMonthOf(stack, new Date(atMs), ['events', 'webhook_deliveries', 'webhook_attempts']);
  const { rows } = await stack.database.pool.query<{ id: string }>(
    `WITH event AS (
       INSERT INTO events (id, workspace_id, type, payload, webhook_ids, created_at)
       VALUES ($1, $2, $5, $6, ARRAY[$3::uuid], $7) RETURNING id
     ), delivery AS (
       INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id, status, attempts, finished_at)
       SELECT delivery_id(id, $3), $2, $3, id, $4::delivery_status, 1, CASE WHEN $4::delivery_status <> 'PENDING' THEN now() END FROM event
       RETURNING id
     ), attempt AS (
       INSERT INTO webhook_attempts (delivery_id, claims, number, status_code, error_class, headers, body, duration_ms)
       SELECT id, 1, 1, 500, 'http'::post_error_class, '{"content-type":"text/plain"}'::jsonb, 'no', 3 FROM delivery WHERE $4::delivery_status <> 'SUCCEEDED'
       UNION ALL
       SELECT id, 1, 1, 204, NULL, '{}', '', 3 FROM delivery WHERE $4::delivery_status = 'SUCCEEDED'
     )
     SELECT id FROM delivery`,
    [
      newUuid(atMs),
      uuidOf(workspaceId),
      uuidOf(webhookId),
      status,
      event,
      somePayload(event),
      new Date(atMs),
    ],
  );
  return idFromUuid('dlv', rows[0]!.id);
}

/** The webhook that a workspace created last. */
export async function newestWebhook(stack: Stack, workspaceId: WorkspaceId): Promise<WebhookId | undefined> {
  const sql = 'SELECT id FROM webhooks WHERE workspace_id = $1 ORDER BY id DESC LIMIT 1';
  const { rows } = await stack.database.pool.query<{ id: string }>(sql, [uuidOf(workspaceId)]);
  return rows[0] && idFromUuid('wh', rows[0].id);
}
