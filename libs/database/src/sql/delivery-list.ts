import { type EventId, uuidOf, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import type { DeliveryStatus, EventName } from '@posthorn/domain';
import { boundsOf, type CreatedBetween, type Statement, type Stretch, Values } from './statement.ts';

/** Which deliveries of a webhook are asked for, by the time of their events among others; what is absent does not matter. */
export interface DeliveryFilter extends CreatedBetween {
  readonly status?: DeliveryStatus | undefined;
  readonly event?: EventName | undefined;
  /** Of one event there is one delivery at most. */
  readonly eventId?: EventId | undefined;
}

/**
 * What is shown of a delivery `d`, of its event, of what is due of it, and of its last attempt. While its webhook is held, its due time says
 * nothing of when it is posted, and may be long past: it is not shown then.
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
 * Reads a stretch of a webhook's deliveries in the order of their ids, which is the order in which their events happened. What it looks
 * at is bounded as in `listEmails`.
 *
 * Indexes: webhook_deliveries_exhausted_idx for the exhausted, webhook_deliveries_pkey for those of one event,
 * webhook_deliveries_by_webhook_idx for all others, each from the place where the stretch begins; primary keys for what is given.
 * The bounds of time are bounds of the id, so that only the months between them are looked at. Locks: none.
 */
export function listDeliveries(
  workspaceId: WorkspaceId,
  webhookId: WebhookId,
  filter: DeliveryFilter,
  stretch: Stretch,
): Statement {
  const values = new Values();
  const order = stretch.sort === 'createdAt.asc' ? 'ASC' : 'DESC';
  const webhook = values.add(uuidOf(webhookId), 'uuid');
  const scanned = [
    `d.webhook_id = ${webhook}`,
    `d.workspace_id = ${values.add(uuidOf(workspaceId), 'uuid')}`,
    ...narrowed(filter, webhook, values),
    ...boundsOf(filter, stretch, values),
  ];
  const mostSeen = values.add(stretch.mostSeen, 'int');
  const text = `
WITH seen AS (
  SELECT   d.id, row_number() OVER (ORDER BY d.id ${order})::int AS n, ${sifted(filter, values)} AS matches
  FROM     webhook_deliveries d
  WHERE    ${scanned.join('\n  AND      ')}
  ORDER BY d.id ${order}
  LIMIT    ${mostSeen}
),
given AS (
  SELECT * FROM seen WHERE matches OR n = ${mostSeen} ORDER BY id ${order} LIMIT ${values.add(stretch.mostGiven, 'int')}
)
SELECT g.n, g.matches, ${SHOWN}
FROM   given g
JOIN   webhook_deliveries d ON d.id = g.id
${JOINS}
ORDER BY d.id ${order}`;
  return { text, values: values.list };
}

/** Reads a delivery of a webhook, with the bytes that are posted. $1 uuid: it. $2 uuid: the webhook. $3 uuid: its workspace. Indexes: primary keys, or webhook_deliveries_by_webhook_idx. Locks: none. */
export const READ_DELIVERY = `
SELECT ${SHOWN}, e.payload AS body
FROM   webhook_deliveries d
${JOINS}
WHERE  d.id = $1::uuid AND d.webhook_id = $2::uuid AND d.workspace_id = $3::uuid`;

/** Reads the newest attempts of a delivery, the newest first. $1 uuid. $2 int: at most so many. Index: webhook_attempts_pkey. Locks: none. */
export const READ_ATTEMPTS = `
SELECT   number, at, status_code AS "statusCode", error_class AS error, reason, headers, body, duration_ms AS "durationMs", late AS "isLate"
FROM     webhook_attempts
WHERE    delivery_id = $1::uuid
ORDER BY claims DESC
LIMIT    $2::int`;

/** What an index is read by. */
function narrowed({ status, eventId }: DeliveryFilter, webhook: string, values: Values): string[] {
  return [
    ...(status === 'EXHAUSTED' ? ['d.is_exhausted'] : []),
    ...(eventId === undefined
      ? []
      : [`d.id = delivery_id(${values.add(uuidOf(eventId), 'uuid')}, ${webhook})`]),
  ];
}

/** What is only seen in the row, or in that of its event. */
function sifted({ status, event }: DeliveryFilter, values: Values): string {
  const conditions = [
    ...(status === undefined ? [] : [`d.status = ${values.add(status, 'delivery_status')}`]),
    ...(event === undefined
      ? []
      : [`(SELECT e.type = ${values.add(event, 'text')} FROM events e WHERE e.id = d.event_id)`]),
  ];
  return conditions.join(' AND ') || 'true';
}
