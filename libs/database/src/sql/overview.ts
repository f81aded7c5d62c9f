import { isPaused } from './paused.ts';

/**
 * The emails that were accepted in the last hour, by minute. $1 int: maximum number scanned, newest first.
 * Index: the primary key of emails, from its end.
 */
export const EMAILS_BY_MINUTE = `
SELECT   date_trunc('minute', e.accepted_at) AS minute,
         count(*)::int AS accepted,
         (count(*) FILTER (WHERE e.status IN ('BOUNCED', 'FAILED')))::int AS failed
FROM     (SELECT accepted_at, status FROM emails
          WHERE  id >= uuid_v7_floor(now() - interval '1 hour')
          ORDER  BY id DESC
          LIMIT  $1::int) e
GROUP BY 1
ORDER BY 1`;

/**
 * How many rows of each queue wait for their next attempt, among the $1 rows that wait and are due first, and whether there may be more: retries are due within
 * hours, and so before most scheduled emails.
 * Index: outbox_waiting_by_due_idx. Locks: none.
 */
export const WAITING_RETRIES = `
SELECT   queue, (count(*) FILTER (WHERE attempts > 0))::int AS retries, sum(count(*)) OVER () = $1::int AS "hasMore"
FROM     (SELECT queue, attempts FROM outbox WHERE state = 'waiting' ORDER BY due_at LIMIT $1::int) w
GROUP BY queue`;

/** The numbers of slow lanes and of failing webhooks, and the version of the database. Scans both tables. Locks: none. */
export const STATE_OF_THINGS = `
SELECT (SELECT count(*)::int FROM slow_lanes) AS "slowLanes",
       (SELECT count(*)::int FROM webhooks WHERE failing_since IS NOT NULL) AS "failingWebhooks",
       current_setting('server_version') AS "postgresVersion"`;

/**
 * The paused lanes: whole queues first, then emails of workspaces, then webhooks, each newest first. $1 int: maximum number. Scans the table, which has a row
 * for each webhook that is paused or disabled.
 */
export const PAUSED_LANES = `
SELECT   queue, lane_id AS "laneId", reason, paused_at AS "pausedAt"
FROM     paused_lanes
ORDER BY lane_id <> '*', queue = 'webhook', paused_at DESC
LIMIT    $1::int`;

/**
 * What is due in certain lanes, in their order. $1 outbox_queue[], $2 text[]: the lanes. $3 int: maximum rows to count of a lane.
 * Indexes: outbox_ready_by_lane_idx, from the front of each lane; paused_lanes_pkey, slow_lanes_pkey. Locks: none.
 */
export const BACKLOG_OF_LANES = `
SELECT   t.queue, t.lane_id AS "laneId", c.due,
         coalesce(greatest(extract(epoch FROM now() - c.oldest), 0), 0)::float8 AS "oldestDueSeconds",
         ${isPaused('t.queue', 't.lane_id')} AS "isPaused",
         EXISTS (SELECT FROM slow_lanes s WHERE s.lane_id = t.lane_id) AS "isSlow"
FROM     unnest($1::outbox_queue[], $2::text[]) WITH ORDINALITY AS t (queue, lane_id, n)
CROSS JOIN LATERAL (
  SELECT count(*)::int AS due, min(due_at) AS oldest
  FROM   (SELECT   o.due_at FROM outbox o
          WHERE    o.queue = t.queue AND o.lane_id = t.lane_id AND o.state = 'ready'
          ORDER BY o.due_at
          LIMIT    $3::int) ready
) c
ORDER BY t.n`;

/**
 * The lanes with the most due rows, among the hundred whose oldest row has waited longest; paused ones last, since what they keep waiting is no surprise.
 * $1 int: how many lanes. $2 int: maximum rows to count of a lane. A loose index scan, as in LANES_WITH_READY_ROWS.
 * Indexes: outbox_ready_by_lane_idx, paused_lanes_pkey. Locks: none.
 */
export const BUSIEST_LANES = `
WITH RECURSIVE step AS (
  (SELECT queue, lane_id, due_at FROM outbox WHERE state = 'ready' ORDER BY queue, lane_id, due_at LIMIT 1)
  UNION ALL
  SELECT next.queue, next.lane_id, next.due_at
  FROM   step s
  CROSS JOIN LATERAL (
    SELECT   o.queue, o.lane_id, o.due_at
    FROM     outbox o
    WHERE    o.state = 'ready' AND (o.queue, o.lane_id) > (s.queue, s.lane_id)
    ORDER BY o.queue, o.lane_id, o.due_at
    LIMIT    1
  ) next
),
longest AS (
  SELECT   s.*, ${isPaused('s.queue', 's.lane_id')} AS is_paused
  FROM     step s
  ORDER BY is_paused, due_at
  LIMIT    100
)
SELECT   l.queue, l.lane_id AS "laneId", c.due,
         greatest(extract(epoch FROM now() - l.due_at), 0)::float8 AS "oldestDueSeconds",
         l.is_paused AS "isPaused",
         EXISTS (SELECT FROM slow_lanes s WHERE s.lane_id = l.lane_id) AS "isSlow"
FROM     longest l
CROSS JOIN LATERAL (
  SELECT count(*)::int AS due
  FROM   (SELECT FROM outbox o WHERE o.queue = l.queue AND o.lane_id = l.lane_id AND o.state = 'ready' LIMIT $2::int) ready
) c
ORDER BY l.is_paused, c.due DESC, l.due_at
LIMIT    $1::int`;
