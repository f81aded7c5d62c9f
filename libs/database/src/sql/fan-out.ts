import { isPaused } from './paused.ts';

/**
 * Finds and locks due events of several lanes. The planner has only one choice, so the plan can be cached (decision 12).
 *
 * $1 text[], $2 int[], $3 float8[]: distinct lanes, and of each the maximum events and from which due time it is read ({@link LaneColumns}).
 * Index: outbox_ready_by_lane_idx, from the due time of each lane. Locks: the outbox rows of the events, skipping those that another turn has locked.
 */
export const LOCK_DUE_EVENTS = `
SELECT r.subject_id AS id, t.lane_id AS "laneId", extract(epoch FROM r.due_at)::float8 AS "dueSeconds"
FROM   unnest($1::text[], $2::int[], $3::float8[]) AS t (lane_id, max_rows, start)
CROSS JOIN LATERAL (
  SELECT   o.subject_id, o.due_at
  FROM     outbox o
  WHERE    o.queue = 'event' AND o.lane_id = t.lane_id AND o.state = 'ready' AND o.due_at >= to_timestamp(t.start)
  ORDER BY o.due_at, o.subject_id
  LIMIT    t.max_rows
  FOR UPDATE SKIP LOCKED
) r
WHERE  NOT ${isPaused("'event'", 't.lane_id')}`;

/**
 * Fans out due events: creates a delivery for each webhook that was subscribed when the event happened and still exists, and deletes the outbox rows of the
 * events. Runs in one transaction with LOCK_DUE_EVENTS, so that nothing has happened if the process dies meanwhile. Existing deliveries are left unchanged.
 *
 * As many new deliveries as the process has capacity for are claimed in the same statement, as CLAIM_DELIVERIES would; the others become ready, and so do all
 * those of slow or paused webhooks (a paused webhook gets its deliveries too; its lane is paused).
 *
 * $1 uuid[]: the events that LOCK_DUE_EVENTS has returned. $2 int, $3 bigint: maximum number and bytes of deliveries to claim. $4 interval: the lease.
 * $5 text[]: lanes of which to claim nothing.
 *
 * Returns a row for each new delivery, with its payload if it is claimed.
 *
 * Indexes: primary keys, by lists of keys, so that one plan serves all groups: planning took a third of the time.
 * Locks: the new rows, in the order of their keys.
 */
export const FAN_OUT_EVENTS = `
WITH event AS MATERIALIZED (
  SELECT e.id, e.workspace_id, e.created_at, e.webhook_ids, e.type, e.payload, e.is_test, e.traceparent, octet_length(e.payload) AS bytes
  FROM   events e
  WHERE  e.id = ANY ((SELECT $1::uuid[])::uuid[])
),
receiver AS MATERIALIZED (
  SELECT w.*, EXISTS (SELECT FROM slow_lanes s WHERE s.lane_id = w.lane_id) AS is_slow,
         w.lane_id = ANY ($5::text[])
         OR ${isPaused("'webhook'", 'w.lane_id')} AS is_held
  FROM   (SELECT   w.id, type_id('wh', w.id) AS lane_id
          FROM     (SELECT DISTINCT unnest(webhook_ids) AS id FROM event) n
          JOIN     webhooks w ON w.id = n.id
          OFFSET   0) w
),
wanted AS MATERIALIZED (
  SELECT w.*,
         NOT is_late AND count(*) OVER in_order <= $2::int AND sum(bytes) OVER in_order <= $3::bigint AS is_claimed
  FROM   (SELECT delivery_id(e.id, r.id) AS id, e.id AS event_id, e.created_at, e.bytes, e.workspace_id,
                 r.id AS webhook_id, r.lane_id, r.is_slow, r.is_slow OR r.is_held AS is_late
          FROM   event e
          CROSS JOIN LATERAL unnest(e.webhook_ids) AS n (webhook_id)
          JOIN   receiver r ON r.id = n.webhook_id) w
  WINDOW in_order AS (PARTITION BY is_late ORDER BY id ROWS UNBOUNDED PRECEDING)
),
delivery AS (
  INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id)
  SELECT   id, workspace_id, webhook_id, event_id FROM wanted
  ORDER BY id
  ON CONFLICT DO NOTHING
  RETURNING id
),
made AS MATERIALIZED (
  SELECT w.* FROM delivery d JOIN wanted w ON w.id = d.id
),
due_now AS (
  INSERT INTO outbox (subject_id, queue, lane_id, due_at, bytes, state, claims, unanswered, lease_until)
  SELECT   id, 'webhook', lane_id, created_at, bytes,
           CASE WHEN is_claimed THEN 'taken' ELSE 'ready' END::outbox_state, is_claimed::int, is_claimed::int,
           CASE WHEN is_claimed THEN now() + $4::interval END
  FROM     made
  ORDER BY id
),
finished AS (
  DELETE FROM outbox o WHERE o.subject_id = ANY ((SELECT $1::uuid[])::uuid[])
)
SELECT m.lane_id AS "laneId", m.id, m.is_slow AS "isSlow", m.is_claimed AS "isClaimed", m.bytes,
       m.workspace_id AS "workspaceId", m.webhook_id AS "webhookId", m.event_id AS "eventId", e.is_test AS "isTest",
       CASE WHEN m.is_claimed THEN e.type END AS event, CASE WHEN m.is_claimed THEN e.payload END AS payload, e.traceparent
FROM   made m
JOIN   event e ON e.id = m.event_id`;
