import { rescheduleDeliveries } from './reschedule-deliveries.ts';
import { all, inIndexOrder } from './statement.ts';

const COLUMNS = `id, webhook_id AS "webhookId", since, until, state, total, done, created_at AS "createdAt", finished_at AS "finishedAt"`;

/**
 * Creates a recovery, unless the webhook has an unfinished one. $1 uuid: its id. $2 uuid: its workspace. $3 uuid: the webhook. $4, $5 timestamptz: the period.
 * $6 timestamptz: now. Returns it if it was created. Index: webhook_recoveries_one_at_once_key. Locks: the new row.
 */
export const BEGIN_RECOVERY = `
INSERT INTO webhook_recoveries (id, workspace_id, webhook_id, since, until, seen_to, created_at, served_at)
VALUES ($1::uuid, $2::uuid, $3::uuid, $4::timestamptz, $5::timestamptz, uuid_v7_floor($4::timestamptz), $6::timestamptz, $6::timestamptz)
ON CONFLICT (webhook_id) WHERE state <> 'COMPLETED' DO NOTHING
RETURNING ${COLUMNS}`;

/** The newest recoveries of a webhook. $1 uuid: the webhook. $2 uuid: its workspace. $3 int: how many. Index: webhook_recoveries_by_webhook_idx, from its end. Locks: none. */
export const LIST_RECOVERIES = `SELECT ${COLUMNS} FROM webhook_recoveries WHERE webhook_id = $1::uuid AND workspace_id = $2::uuid ORDER BY id DESC LIMIT $3::int`;

/** A recovery. $1 uuid: its id. $2 uuid: its webhook. $3 uuid: its workspace. Index: webhook_recoveries_pkey. Locks: none. */
export const READ_RECOVERY = `SELECT ${COLUMNS} FROM webhook_recoveries WHERE id = $1::uuid AND webhook_id = $2::uuid AND workspace_id = $3::uuid`;

/**
 * Takes the recovery that has waited longest for its next group, skipping webhooks with too many due deliveries: current events must get through too, and the
 * lane of a paused webhook must not fill up. $1 int: how many are too many.
 * Indexes: webhook_recoveries_unfinished_idx, from its front; outbox_ready_by_lane_idx, at most $1 rows of each lane.
 * Locks: the recovery and its webhook, skipping those that somebody else has locked.
 */
export const TAKE_RECOVERY = `
SELECT   r.id, r.webhook_id AS "webhookId", r.state, r.seen_to AS "seenTo", r.until
FROM     webhook_recoveries r
JOIN     webhooks w ON w.id = r.webhook_id
WHERE    r.state = 'COUNTING'
OR       r.state = 'RUNNING' AND (
           SELECT count(*) FROM (
             SELECT FROM outbox o
             WHERE  o.queue = 'webhook' AND o.lane_id = type_id('wh', r.webhook_id) AND o.state = 'ready'
             LIMIT  $1::int
           ) ready
         ) < $1::int
ORDER BY r.served_at
LIMIT    1
FOR NO KEY UPDATE OF r, w SKIP LOCKED`;

const IN_INDEX = inIndexOrder(
  [{ column: 'webhook_id', value: '$1::uuid' }],
  { from: '$2::uuid', to: 'uuid_v7_floor($3::timestamptz)' },
  'createdAt.asc',
);

/**
 * The next deliveries of a webhook: id, status, event_id. $1 uuid: the webhook. $2 uuid: after this one. $3 timestamptz: of events before this time. $4 int:
 * maximum number. Index: webhook_deliveries_by_webhook_idx, from that position (see {@link inIndexOrder}).
 */
const LOOKED = `
looked AS MATERIALIZED (
  SELECT   id, status, event_id FROM webhook_deliveries
  WHERE    ${all([...IN_INDEX.conditions, 'id <> $2::uuid'])}
  ORDER BY ${IN_INDEX.order}
  LIMIT    $4::int
)`;

/** How many were scanned, and the last of them. */
const SEEN = `(SELECT count(*)::int FROM looked) AS looked, (SELECT id FROM looked ORDER BY id DESC LIMIT 1) AS last`;

/** Counts the failed ones among the next deliveries. Parameters as RECOVER_DELIVERIES. Indexes: that of `looked`, then outbox_pkey. Locks: none. */
export const COUNT_FAILED_DELIVERIES = `
WITH ${LOOKED}
SELECT ${SEEN},
       (SELECT count(*)::int
        FROM   looked l
        -- Only those are looked up: as a condition beside the id, the status would be compared with what was found.
        LEFT JOIN outbox o ON o.subject_id = CASE l.status WHEN 'PENDING' THEN l.id END
        WHERE  l.status = 'EXHAUSTED' OR o.state = 'waiting') AS failed`;

/**
 * Makes the failed ones among the next deliveries due now, with a fresh retry schedule: exhausted ones, and those that wait for a retry.
 * $1 uuid: the webhook. $2 uuid: after this one. $3 timestamptz: of events before this time. $4 int: maximum number scanned.
 * Indexes: webhook_deliveries_by_webhook_idx, from that position; primary keys. Locks: the waiting outbox rows, in order, skipping those that somebody else has
 * locked; then those of {@link rescheduleDeliveries}.
 */
export const RECOVER_DELIVERIES = `
WITH ${LOOKED},
waiting AS MATERIALIZED (
  SELECT   o.subject_id
  FROM     looked l
  JOIN     outbox o ON o.subject_id = l.id
  WHERE    l.status = 'PENDING' AND o.state = 'waiting'
  ORDER BY o.subject_id
  FOR NO KEY UPDATE OF o SKIP LOCKED
),
hastened AS (
  UPDATE outbox o SET state = 'ready', due_at = now(), attempts = 0 FROM waiting w WHERE o.subject_id = w.subject_id
  RETURNING o.subject_id
),
lane AS MATERIALIZED (
  SELECT type_id('wh', $1::uuid) AS lane_id
),
exhausted AS MATERIALIZED (
  SELECT k.id, k.event_id, l.lane_id FROM looked k CROSS JOIN lane l WHERE k.status = 'EXHAUSTED'
),${rescheduleDeliveries('exhausted')}
SELECT ${SEEN}, ((SELECT count(*) FROM hastened) + (SELECT count(*) FROM due))::int AS failed`;

/**
 * Records the progress of a recovery after a group. $1 uuid: its id. $2 uuid: the last delivery scanned (null: none). $3 int: how many had failed. $4 boolean:
 * whether this was the last group, so that the next state begins. Index: webhook_recoveries_pkey. Locks: the recovery.
 */
export const NOTE_RECOVERED_GROUP = `
UPDATE webhook_recoveries r
SET    total = r.total + CASE WHEN r.state = 'COUNTING' THEN $3::int ELSE 0 END,
       done = r.done + CASE WHEN r.state = 'RUNNING' THEN $3::int ELSE 0 END,
       seen_to = CASE WHEN $4::boolean THEN uuid_v7_floor(r.since) ELSE coalesce($2::uuid, r.seen_to) END,
       state = CASE WHEN NOT $4::boolean THEN r.state WHEN r.state = 'COUNTING' THEN 'RUNNING' ELSE 'COMPLETED' END::recovery_state,
       finished_at = CASE WHEN $4::boolean AND r.state = 'RUNNING' THEN now() END,
       served_at = clock_timestamp()
WHERE  r.id = $1::uuid`;

/** Deletes recoveries that were completed more than $1 int days ago. Index: webhook_recoveries_finished_idx, from its front. Locks: the recoveries. */
export const FORGET_RECOVERIES = `
DELETE FROM webhook_recoveries WHERE state = 'COMPLETED' AND finished_at < now() - make_interval(days => $1::int)`;
