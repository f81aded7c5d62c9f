import { FIRST_ID } from '@posthorn/kernel';
import { type ColumnType, rowsOf } from './binary-array.ts';
import { applyOutcomes, CLAIM_COLUMNS, claimCtes, IS_OF_LOST_DATABASE, NOTED_CLAIM } from './claims.ts';
import { rescheduleDeliveries } from './reschedule-deliveries.ts';
import { all, inIndexOrder } from './statement.ts';

/**
 * Claims deliveries of several webhooks, with their payloads. See {@link claimCtes} for the parameters $1 to $5, indexes, locks and planning. $6 boolean: of
 * slow lanes only, or of others only. Further indexes: primary keys.
 */
export const CLAIM_DELIVERIES = `
WITH ${claimCtes('webhook', 'EXISTS (SELECT FROM slow_lanes s WHERE s.lane_id = t.lane_id) = $6::boolean')}
SELECT   ${CLAIM_COLUMNS},
         d.workspace_id AS "workspaceId", d.webhook_id AS "webhookId", d.event_id AS "eventId", d.attempts AS "attemptsMade",
         e.type AS event, e.payload, e.is_test AS "isTest", e.traceparent
FROM     claimed c
CROSS JOIN LATERAL (SELECT * FROM webhook_deliveries WHERE id = c.subject_id OFFSET 0) d
CROSS JOIN LATERAL (SELECT * FROM events WHERE id = d.event_id OFFSET 0) e`;

/** Reads the receivers of webhooks: URL, tokens, status and health. $1 uuid[]. Indexes: webhooks_pkey, slow_lanes_pkey. Locks: none. */
export const READ_RECEIVERS = `
SELECT w.id, w.url, w.token AS "sealedToken",
       CASE WHEN w.previous_token_until > now() THEN w.previous_token END AS "sealedPreviousToken",
       w.status, w.updated_at::text AS "asOf", w.failing_since AS "failingSince", w.warned_at AS "warnedAt",
       EXISTS (SELECT FROM slow_lanes s WHERE s.lane_id = type_id('wh', w.id)) AS "isSlow"
FROM   webhooks w
WHERE  w.id = ANY ((SELECT $1::uuid[])::uuid[])`;

/** The same with locks until the end of the transaction. Locks: the webhooks, in order, skipping those that somebody else has locked. */
export const LOCK_RECEIVERS = `${READ_RECEIVERS}
ORDER BY w.id
FOR NO KEY UPDATE OF w SKIP LOCKED`;

/** The array parameters of RECORD_DELIVERIES: one column of the outcomes each, in this order. */
export const OUTCOME_COLUMNS = {
  n: 'int',
  id: 'uuid',
  claims: 'int',
  lane_id: 'text',
  status: 'text',
  retry_after_ms: 'int',
  steps: 'int',
  attempt: 'boolean',
  number: 'int',
  status_code: 'int',
  error_class: 'text',
  reason: 'text',
  headers: 'text',
  body: 'text',
  duration_ms: 'int',
} as const satisfies Record<string, ColumnType>;

const ATTEMPT_COLUMNS =
  'delivery_id, claims, number, status_code, error_class, reason, headers, body, duration_ms';
/** Their values of an outcome `o`, after the id and the claim. */
const ATTEMPT_OF_OUTCOME = `o.number, o.status_code, o.error_class::post_error_class, o.reason, o.headers::jsonb, o.body, o.duration_ms`;

/**
 * Records the outcomes of claimed deliveries.
 *
 * OUTCOME_COLUMNS, an array each: status (null: unchanged), retry_after_ms (null: finished), steps (in the retry schedule, if retried), attempt (false: not
 * counted as one) and the columns of the attempt; headers as JSON.
 *
 * Indexes: outbox_pkey, those of webhook_deliveries, webhook_attempts_pkey. Locks: after the outbox rows (LOCK_OUTBOX_ROWS) the deliveries (which nobody
 * else locks without the outbox row), then the key of the attempts, in order.
 * Fencing: an outcome whose claim no longer holds changes no state, but its attempt is recorded as late, unless the delivery is gone, or being removed at that
 * moment: its key is locked, if it is free, so that nothing is left of one that goes. Successes, which are nearly all, are changed by lists of keys; see
 * {@link applyOutcomes}.
 * `told` needs no conflict check: if the row is still taken under this claim, no attempt of the claim has been recorded before, because whatever records one
 * changes the row first. (Also in a restored database: see {@link NOTED_CLAIM}.)
 */
export const RECORD_DELIVERIES = `
WITH outcome AS MATERIALIZED (
  SELECT o.*, o.status IS NOT DISTINCT FROM 'SUCCEEDED' AS is_success
  FROM   ${rowsOf(OUTCOME_COLUMNS, 'o')}
), ${applyOutcomes('l.steps')},
succeeded AS (
  UPDATE webhook_deliveries d
  SET    status = 'SUCCEEDED', attempts = d.attempts + 1, finished_at = now()
  WHERE  d.id = ANY (ARRAY(SELECT id FROM live WHERE is_success))
),
changed AS (
  UPDATE webhook_deliveries d
  SET    status = coalesce(l.status::delivery_status, d.status), attempts = d.attempts + l.attempt::int,
         finished_at = CASE WHEN l.status IS NOT NULL THEN now() END
  FROM   live l
  WHERE  d.id = l.id
  AND    d.id = ANY (ARRAY(SELECT id FROM live WHERE NOT is_success AND (attempt OR status IS NOT NULL)))
),
told AS (
  INSERT INTO webhook_attempts (${ATTEMPT_COLUMNS}, late)
  SELECT o.id, o.claims, ${ATTEMPT_OF_OUTCOME}, false FROM live o WHERE o.attempt AND o.is_taken ORDER BY o.id
),
told_late AS (
  INSERT INTO webhook_attempts (${ATTEMPT_COLUMNS}, late)
  SELECT    o.id, ${NOTED_CLAIM}, ${ATTEMPT_OF_OUTCOME}, l.id IS NULL
  FROM      outcome o
  LEFT JOIN live l ON l.n = o.n
  WHERE     o.attempt AND l.is_taken IS NOT TRUE
  AND       (l.id IS NOT NULL OR (SELECT true FROM webhook_deliveries d WHERE d.id = o.id FOR KEY SHARE SKIP LOCKED))
  ORDER BY  o.id, o.claims
  ON CONFLICT DO NOTHING
)
SELECT o.n, l.id IS NOT NULL AS live FROM outcome o LEFT JOIN live l ON l.n = o.n ORDER BY o.n`;

/**
 * Records our own faults among the attempts, unless the delivery is gone or being removed; only the first of several in a row, because a long outage of ours
 * would add one every half a minute. $1 json: id, claims, number, reason, duration_ms. Indexes: outbox_pkey, webhook_deliveries_pkey,
 * webhook_attempts_pkey. Locks: the keys of the deliveries, as RECORD_DELIVERIES; the new rows, in order.
 */
export const RECORD_OWN_FAULTS = `
INSERT INTO webhook_attempts (delivery_id, claims, number, error_class, reason, duration_ms)
SELECT   o.id, CASE WHEN ${IS_OF_LOST_DATABASE} THEN -o.claims ELSE o.claims END, o.number, 'internal', o.reason, o.duration_ms
FROM     json_to_recordset($1::json) AS o (id uuid, claims int, number int, reason text, duration_ms int)
WHERE    (SELECT true FROM webhook_deliveries d WHERE d.id = o.id FOR KEY SHARE SKIP LOCKED)
AND      (SELECT t.error_class FROM webhook_attempts t WHERE t.delivery_id = o.id ORDER BY t.claims DESC LIMIT 1)
         IS DISTINCT FROM 'internal'
ORDER BY o.id
ON CONFLICT DO NOTHING`;

/**
 * Gives up deliveries on hold that have been due for too long. $1 interval: how long. $2 int: maximum number, over all webhooks.
 * Indexes: paused_lanes_pkey; outbox_ready_by_lane_idx, from its front for each paused lane until there are enough; then primary keys, by a list of keys.
 * Locks: what it gives up.
 */
export const EXPIRE_HELD_DELIVERIES = `
WITH old AS MATERIALIZED (
  SELECT r.subject_id
  FROM   paused_lanes p
  CROSS JOIN LATERAL (
    SELECT   o.subject_id
    FROM     outbox o
    WHERE    o.queue = 'webhook' AND o.lane_id = p.lane_id AND o.state = 'ready' AND o.due_at < now() - $1::interval
    ORDER BY o.due_at, o.subject_id
    LIMIT    $2::int
    FOR UPDATE SKIP LOCKED
  ) r
  WHERE  p.queue = 'webhook'
  LIMIT  $2::int
),
finished AS (
  DELETE FROM outbox o WHERE o.subject_id = ANY (ARRAY(SELECT subject_id FROM old))
)
UPDATE webhook_deliveries d SET status = 'EXPIRED', finished_at = now()
WHERE  d.id = ANY (ARRAY(SELECT subject_id FROM old))`;

const IN_INDEX = inIndexOrder([{ column: 'd.webhook_id', value: 'w.id' }], {}, 'createdAt.asc');

/**
 * For one webhook that was re-enabled, makes deliveries due again that had failed before that: those that wait for a retry, and exhausted ones. $1 int: maximum
 * number of each that are looked at. Returns how many were made due; no row when there is no such webhook.
 * Indexes: webhooks_to_put_back_idx; outbox_retries_by_lane_idx, from where the last group ended; webhook_attempts_pkey, from its end for each delivery that
 * waits; webhook_deliveries_exhausted_idx, from its front; primary keys. Locks: the webhook, the waiting outbox rows, skipping those that somebody else has
 * locked, then the deliveries.
 * What has failed again since then waits for its retry: it would be posted to a receiver that is still down as fast as that refuses it. It is not looked at again,
 * so that a group takes no longer the more of them there are.
 */
export const PUT_BACK_DELIVERIES = `
WITH webhook AS MATERIALIZED (
  SELECT   id, put_back_before, coalesce(put_back_seen_to, '${FIRST_ID}') AS seen_to, type_id('wh', id) AS lane_id FROM webhooks
  WHERE    put_back_before IS NOT NULL
  ORDER BY id
  LIMIT    1
  FOR NO KEY UPDATE SKIP LOCKED
),
waiting AS MATERIALIZED (
  SELECT r.subject_id,
         (SELECT t.at FROM webhook_attempts t WHERE t.delivery_id = r.subject_id ORDER BY t.claims DESC LIMIT 1) < w.put_back_before AS failed_before
  FROM   webhook w
  CROSS JOIN LATERAL (
    SELECT   o.subject_id
    FROM     outbox o
    WHERE    o.queue = 'webhook' AND o.state = 'waiting' AND (o.lane_id, o.subject_id) > (w.lane_id, w.seen_to) AND o.lane_id <= w.lane_id
    ORDER BY o.lane_id, o.subject_id
    LIMIT    $1::int
    FOR NO KEY UPDATE SKIP LOCKED
  ) r
),
hastened AS (
  UPDATE outbox o SET state = 'ready', due_at = now(), attempts = 0
  WHERE  o.subject_id = ANY (ARRAY(SELECT subject_id FROM waiting WHERE failed_before))
),
again AS MATERIALIZED (
  SELECT r.id, r.event_id, w.lane_id
  FROM   webhook w
  CROSS JOIN LATERAL (
    SELECT   d.id, d.event_id
    FROM     webhook_deliveries d
    WHERE    ${all(IN_INDEX.conditions)} AND d.is_exhausted AND d.finished_at < w.put_back_before
    ORDER BY ${IN_INDEX.order}
    LIMIT    $1::int
  ) r
),
${rescheduleDeliveries('again')},
noted AS (
  UPDATE webhooks w
  SET    put_back_before = CASE WHEN NOT n.is_last THEN w.put_back_before END,
         put_back_seen_to = CASE WHEN NOT n.is_last THEN coalesce(n.seen_to, w.put_back_seen_to) END
  FROM   webhook h, (
           SELECT (SELECT subject_id FROM waiting ORDER BY subject_id DESC LIMIT 1) AS seen_to,
                  (SELECT count(*) FROM waiting) < $1::int AND (SELECT count(*) FROM again) < $1::int AS is_last
         ) n
  WHERE  w.id = h.id
)
SELECT ((SELECT count(*) FROM waiting WHERE failed_before) + (SELECT count(*) FROM again))::int AS "putBack" FROM webhook`;
