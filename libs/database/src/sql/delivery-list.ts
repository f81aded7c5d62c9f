import { type EventId, uuidOf, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import type { DeliveryStatus, EventName } from '@posthorn/domain';
import {
  boundedScan,
  type CreatedBetween,
  rangeOf,
  type Statement,
  type ScanWindow,
  Values,
} from './statement.ts';

/** Filters for a list of a webhook's deliveries; times are those of the events. */
export interface DeliveryFilter extends CreatedBetween {
  readonly status?: DeliveryStatus | undefined;
  readonly event?: EventName | undefined;
  /** Of one event there is one delivery at most. */
  readonly eventId?: EventId | undefined;
}

/**
 * The columns shown of a delivery `d`, its event, its outbox row, and its last attempt. While the webhook is on hold, the due time is not shown: it does not
 * say when the delivery will be posted, and may be long past.
 */
const SHOWN = `d.id, d.webhook_id AS "webhookId", d.event_id AS "eventId", e.type AS event, e.is_test AS "isTest", d.status,
       d.attempts AS "attemptCount", d.finished_at AS "finishedAt",
       CASE WHEN o.state <> 'taken' AND h.lane_id IS NULL THEN o.due_at END AS "nextAttemptAt", coalesce(o.state = 'taken', false) AS "isUnderWay",
       a.at AS "lastAt", a.status_code AS "lastStatusCode", a.error_class AS "lastError"`;

const JOINS = `JOIN   events e ON e.id = d.event_id
LEFT JOIN outbox o ON o.subject_id = d.id
LEFT JOIN LATERAL (
  SELECT p.lane_id FROM paused_lanes p WHERE p.queue = o.queue AND p.lane_id IN (o.lane_id, '*') LIMIT 1
) h ON true
LEFT JOIN LATERAL (
  SELECT   t.at, t.status_code, t.error_class FROM webhook_attempts t
  WHERE    t.delivery_id = d.id
  ORDER BY t.claims DESC
  LIMIT    1
) a ON true`;

/**
 * Scans a webhook's deliveries, whose ids are in the order of their events: see {@link boundedScan}.
 *
 * Indexes: webhook_deliveries_exhausted_idx for status EXHAUSTED, webhook_deliveries_pkey for an event, webhook_deliveries_by_webhook_idx otherwise, each
 * from where the window starts (see {@link inIndexOrder}); primary keys for the rows returned. Time bounds are expressed as bounds of the id, so that other monthly partitions are
 * pruned. Locks: none.
 */
export function listDeliveries(
  workspaceId: WorkspaceId,
  webhookId: WebhookId,
  window: ScanWindow,
  filter: DeliveryFilter,
): Statement {
  const values = new Values();
  const { status, event, eventId } = filter;
  const webhook = values.add(uuidOf(webhookId), 'uuid');
  return boundedScan(window, values, {
    table: 'webhook_deliveries d',
    equalities: [{ column: 'd.webhook_id', value: webhook }],
    range: rangeOf(filter, window, values),
    conditions: [
      `d.workspace_id = ${values.add(uuidOf(workspaceId), 'uuid')}`,
      ...(status === 'EXHAUSTED' ? ['d.is_exhausted'] : []),
      ...values.given(eventId && uuidOf(eventId), 'uuid', (id) => `d.id = delivery_id(${id}, ${webhook})`),
    ],
    filters: [
      ...values.given(status, 'delivery_status', (wanted) => `d.status = ${wanted}`),
      ...values.given(event, 'text', (is) => `(SELECT e.type = ${is} FROM events e WHERE e.id = d.event_id)`),
    ],
    shown: `${SHOWN}\nFROM     given g\nJOIN     webhook_deliveries d ON d.id = g.id\n${JOINS}`,
  });
}

/** Reads a delivery of a webhook with its payload. $1 uuid: the delivery. $2 uuid: the webhook. $3 uuid: its workspace. Indexes: primary keys, or webhook_deliveries_by_webhook_idx. Locks: none. */
export const READ_DELIVERY = `
SELECT ${SHOWN}, e.payload AS body
FROM   webhook_deliveries d
${JOINS}
WHERE  d.id = $1::uuid AND d.webhook_id = $2::uuid AND d.workspace_id = $3::uuid`;

/** Reads the newest attempts of a delivery, newest first. $1 uuid. $2 int: maximum number. Index: webhook_attempts_pkey. Locks: none. */
export const READ_ATTEMPTS = `
SELECT   number, at, status_code AS "statusCode", error_class AS error, reason, headers, body, duration_ms AS "durationMs", late AS "isLate"
FROM     webhook_attempts
WHERE    delivery_id = $1::uuid
ORDER BY claims DESC
LIMIT    $2::int`;
