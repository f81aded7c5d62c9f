import { COMPOSITION_COLUMNS, COMPOSITION_JOINS } from './composition.ts';

/**
 * Claims rows of several lanes at once: `claims` + 1 and a lease for each, and, for emails, all that sending needs.
 *
 * $1 text[]: lanes, none twice. $2 int[]: at most so many rows of each. $3 bigint: at most so many bytes of each lane (its first row
 * is claimed whatever its size). $4 interval: the lease.
 *
 * Index: outbox_ready_by_lane_idx, read from its front for each lane; then primary keys.
 * Locks: the candidates, skipping what another turn is looking at; those beyond the bytes are let go at the commit.
 * The claim is what makes SCHEDULED into SENT: from here on an email cannot be moved or cancelled. It may have been moved since this
 * statement began, so its time is read from the row that was updated, not from the one that was seen. A ready row
 * that still has a lease was taken from a process that died (see REVIVE), so what that one did may be done twice. Of
 * those whose process has died twice in a row each claim takes one only: if it is the one that kills, it takes few with it.
 */
export const CLAIM_EMAILS = `
WITH turn AS (
  SELECT t.lane_id, t.max_rows
  FROM   unnest($1::text[], $2::int[]) AS t (lane_id, max_rows)
  WHERE  NOT EXISTS (SELECT FROM paused_lanes p WHERE p.queue = 'email' AND p.lane_id IN (t.lane_id, '*'))
),
candidate AS MATERIALIZED (
  SELECT r.*, t.max_rows, count(*) OVER (PARTITION BY t.lane_id) AS candidates,
         sum(r.bytes) OVER in_order AS bytes_so_far,
         count(*) FILTER (WHERE r.unanswered > 1) OVER in_order AS suspects_so_far
  FROM   turn t
  CROSS JOIN LATERAL (
    SELECT   o.subject_id, o.due_at, o.bytes, o.lease_until, o.unanswered
    FROM     outbox o
    WHERE    o.queue = 'email' AND o.lane_id = t.lane_id AND o.state = 'ready'
    ORDER BY o.due_at, o.subject_id
    LIMIT    t.max_rows
    FOR NO KEY UPDATE SKIP LOCKED
  ) r
  WINDOW in_order AS (PARTITION BY t.lane_id ORDER BY r.due_at, r.subject_id)
),
claimed AS (
  UPDATE outbox o
  SET    state = 'taken', claims = o.claims + 1, unanswered = o.unanswered + 1, lease_until = now() + $4::interval
  FROM   candidate c
  WHERE  o.subject_id = c.subject_id
  AND    (c.bytes_so_far <= $3::bigint OR c.bytes_so_far = c.bytes)
  AND    (c.unanswered <= 1 OR c.suspects_so_far = 1)
  RETURNING o.subject_id, o.lane_id, o.claims, o.attempts, o.bytes, c.lease_until IS NOT NULL AS from_the_dead,
            c.candidates, c.max_rows
),
released AS (
  UPDATE emails e SET status = 'SENT' FROM claimed c WHERE e.id = c.subject_id AND e.status = 'SCHEDULED'
  RETURNING e.id, e.send_at
),
marked AS (
  INSERT INTO email_events (email_id, kind, claims, duplicate_possible)
  SELECT subject_id, 'WORKER_DIED', claims - 1, true FROM claimed WHERE from_the_dead
  ON CONFLICT DO NOTHING
)
SELECT   c.subject_id AS id, c.lane_id AS "laneId", c.claims, c.attempts, c.bytes,
         c.candidates >= c.max_rows OR c.candidates > count(*) OVER (PARTITION BY c.lane_id) AS "laneHasMore",
         coalesce(r.send_at, e.send_at, e.accepted_at) AS "fellDueAt",
         ${COMPOSITION_COLUMNS}
FROM     claimed c
JOIN     emails e ON e.id = c.subject_id
LEFT JOIN released r ON r.id = c.subject_id
${COMPOSITION_JOINS}`;

/**
 * Records what became of claimed emails.
 *
 * $1 json: n, id, claims, kind (of the event), status (null: unchanged), retry_after_ms (null: finished), lane_id (where it
 * waits for its retry), duplicate_possible, detail.
 *
 * Indexes: outbox_pkey, emails_pkey, email_events_claim_kind_key. Locks: the outbox rows in order, then the emails
 * (nobody else locks those without the outbox row), then the unique index of the timeline, in order.
 * Fencing: an outcome whose claim has moved on changes no state, but its fact is appended to the timeline as `late`, and
 * marked as a possible duplicate. Recording the same outcome twice leaves what recording it once does.
 */
export const RECORD_OUTCOMES = `
WITH outcome AS MATERIALIZED (
  SELECT *
  FROM   json_to_recordset($1::json) AS o (
           n int, id uuid, claims int, kind email_event_kind, status email_status, retry_after_ms bigint, lane_id text,
           duplicate_possible boolean, detail jsonb)
),
live AS MATERIALIZED (
  SELECT   o.*
  FROM     outbox b
  JOIN     outcome o ON o.id = b.subject_id AND o.claims = b.claims
  WHERE    b.unanswered > 0 -- else this very outcome has been recorded before
  ORDER BY b.subject_id
  FOR NO KEY UPDATE OF b
),
finished AS (
  DELETE FROM outbox b USING live l WHERE b.subject_id = l.id AND l.retry_after_ms IS NULL
),
again AS (
  UPDATE outbox b
  SET    state = 'waiting', due_at = now() + l.retry_after_ms * interval '1 millisecond', lease_until = NULL,
         lane_id = l.lane_id, attempts = b.attempts + 1, unanswered = 0
  FROM   live l
  WHERE  b.subject_id = l.id AND l.retry_after_ms IS NOT NULL
),
changed AS (
  UPDATE emails e
  SET    status = l.status, sent_at = CASE WHEN l.kind = 'SENT' THEN now() ELSE e.sent_at END
  FROM   live l
  WHERE  e.id = l.id AND l.status IS NOT NULL
),
told AS (
  INSERT INTO email_events (email_id, kind, claims, late, duplicate_possible, detail)
  SELECT    o.id, o.kind, o.claims, l.id IS NULL, o.duplicate_possible OR l.id IS NULL, o.detail
  FROM      outcome o
  LEFT JOIN live l ON l.n = o.n
  ORDER BY  o.id, o.claims, o.kind
  ON CONFLICT DO NOTHING
)
SELECT o.n, l.id IS NOT NULL AS live FROM outcome o LEFT JOIN live l ON l.n = o.n ORDER BY o.n`;

/**
 * Renews leases; gives back those that still hold. $1 uuid[], $2 int[]: ids and claims. $3 interval: the lease.
 * Index: outbox_pkey. Locks: in the order of the ids.
 */
export const RENEW_LEASES = `
WITH held AS (
  SELECT   b.subject_id
  FROM     unnest($1::uuid[], $2::int[]) AS h (id, claims)
  JOIN     outbox b ON b.subject_id = h.id AND b.claims = h.claims AND b.state = 'taken'
  ORDER BY b.subject_id
  FOR NO KEY UPDATE OF b
)
UPDATE outbox b SET lease_until = now() + $3::interval FROM held h WHERE b.subject_id = h.subject_id
RETURNING b.subject_id AS id, b.claims`;

/**
 * Gives claimed rows back as if they had never been claimed (but for `claims`, which only grows). $1 uuid[], $2 int[].
 * Index: outbox_pkey. Locks: in the order of the ids.
 */
export const GIVE_BACK = `
WITH held AS (
  SELECT   b.subject_id
  FROM     unnest($1::uuid[], $2::int[]) AS h (id, claims)
  JOIN     outbox b ON b.subject_id = h.id AND b.claims = h.claims AND b.state = 'taken'
  ORDER BY b.subject_id
  FOR NO KEY UPDATE OF b
)
UPDATE outbox b SET state = 'ready', lease_until = NULL, unanswered = greatest(b.unanswered - 1, 0)
FROM   held h WHERE b.subject_id = h.subject_id`;

/** Makes what has fallen due ready. $1 int: at most so many. Index: outbox_waiting_by_due_idx, from its front. */
export const RIPEN = `
WITH due AS (
  SELECT   subject_id FROM outbox
  WHERE    state = 'waiting' AND due_at <= now()
  ORDER BY due_at
  LIMIT    $1::int
  FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE outbox o SET state = 'ready' FROM due d WHERE o.subject_id = d.subject_id`;

/**
 * Frees the rows of turns whose lease ended long enough ago. $1 interval: the grace. $2 int: at most so many. $3 int: after
 * so many claims in a row without an answer an email is given up, so that one that kills workers does not do so for ever.
 * A freed row keeps its lease, which the next claim reads as: whoever had it died.
 * Index: outbox_taken_by_lease_idx, from its front.
 */
export const REVIVE = `
WITH dead AS MATERIALIZED (
  SELECT   subject_id, queue, claims, unanswered FROM outbox
  WHERE    state = 'taken' AND lease_until < now() - $1::interval
  ORDER BY lease_until
  LIMIT    $2::int
  FOR NO KEY UPDATE SKIP LOCKED
),
given_up AS (
  DELETE FROM outbox o USING dead d
  WHERE  o.subject_id = d.subject_id AND d.queue = 'email' AND d.unanswered >= $3::int
  RETURNING o.subject_id, o.claims
),
failed AS (
  UPDATE emails e SET status = 'FAILED' FROM given_up g WHERE e.id = g.subject_id
),
told AS (
  INSERT INTO email_events (email_id, kind, claims, duplicate_possible, detail)
  SELECT subject_id, 'FAILED', claims, true, '{"reason":"worker_died"}' FROM given_up
  ON CONFLICT DO NOTHING
),
revived AS (
  UPDATE outbox o SET state = 'ready'
  FROM   dead d
  WHERE  o.subject_id = d.subject_id AND NOT (d.queue = 'email' AND d.unanswered >= $3::int)
  RETURNING o.subject_id
)
SELECT (SELECT count(*)::int FROM revived) AS revived, (SELECT count(*)::int FROM given_up) AS "givenUp"`;

/**
 * The lanes that have ready rows and are not held back. A skip-scan: one descent of the index for each lane with work, so that its cost
 * does not grow with their rows. Index: outbox_ready_by_lane_idx.
 */
export const LANES_WITH_READY_ROWS = `
WITH RECURSIVE lane AS (
  (SELECT   queue, lane_id FROM outbox WHERE state = 'ready' ORDER BY queue, lane_id LIMIT 1)
  UNION ALL
  SELECT n.queue, n.lane_id
  FROM   lane l
  CROSS JOIN LATERAL (
    SELECT   o.queue, o.lane_id
    FROM     outbox o
    WHERE    o.state = 'ready' AND (o.queue, o.lane_id) > (l.queue, l.lane_id)
    ORDER BY o.queue, o.lane_id
    LIMIT    1
  ) n
)
SELECT l.queue, l.lane_id AS "laneId"
FROM   lane l
WHERE  NOT EXISTS (SELECT FROM paused_lanes p WHERE p.queue = l.queue AND p.lane_id IN (l.lane_id, '*'))`;

/**
 * How many emails are in each state, up to $1 of each: who looks at a backlog of ten million does not wait for its count.
 * Indexes: outbox_ready_by_lane_idx, outbox_waiting_by_due_idx, outbox_taken_by_lease_idx.
 */
export const COUNT_EMAILS = `
SELECT (SELECT count(*)::int FROM (SELECT FROM outbox WHERE queue = 'email' AND state = 'ready'   LIMIT $1::int) r) AS due,
       (SELECT count(*)::int FROM (SELECT FROM outbox WHERE queue = 'email' AND state = 'waiting' LIMIT $1::int) w) AS waiting,
       (SELECT count(*)::int FROM (SELECT FROM outbox WHERE queue = 'email' AND state = 'taken'   LIMIT $1::int) t) AS taken`;
