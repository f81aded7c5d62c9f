import { MAX_LEASE_MS } from '@posthorn/domain';
import { applyOutcomes, CLAIM_COLUMNS, claimCtes, NOTED_CLAIM } from './claims.ts';
import { recordEmailEvents } from './email-events.ts';
import { COMPOSITION_COLUMNS, COMPOSITION_JOINS } from './composition.ts';
import { isPaused } from './paused.ts';
import { WHY_WITHHELD } from './withheld.ts';

/**
 * Claims emails of several lanes, with all that sending needs, including whether they are withheld from their recipient. See {@link claimCtes} for parameters,
 * indexes, locks and planning.
 *
 * The claim turns SCHEDULED into SENT: from here on an email cannot be rescheduled or cancelled. It may have been rescheduled since this statement began, so
 * its due time is read from the updated row and not from the snapshot.
 * Further indexes: primary keys, and those of {@link WHY_WITHHELD}.
 */
export const CLAIM_EMAILS = `
WITH ${claimCtes('email')},
released AS (
  UPDATE emails e SET status = 'SENT'
  WHERE  e.id = ANY (ARRAY(SELECT subject_id FROM claimed)) AND e.status = 'SCHEDULED'
  RETURNING e.id, e.send_at
),
marked AS (
  INSERT INTO email_events (email_id, kind, claims, duplicate_possible)
  SELECT c.subject_id, 'WORKER_DIED', c.claims - 1, true
  FROM   claimed c
  JOIN   candidate d ON d.subject_id = c.subject_id AND d.from_the_dead
  ON CONFLICT DO NOTHING
)
SELECT   ${CLAIM_COLUMNS},
         coalesce(r.send_at, e.send_at, e.accepted_at) AS "fellDueAt", ${WHY_WITHHELD} AS "withheldFor", e.traceparent,
         ${COMPOSITION_COLUMNS}
FROM     claimed c
CROSS JOIN LATERAL (SELECT * FROM emails WHERE id = c.subject_id OFFSET 0) e
LEFT JOIN released r ON r.id = c.subject_id
${COMPOSITION_JOINS}`;

/**
 * Records the outcomes of claimed emails; idempotent.
 *
 * $1 json: n, id, workspace_id, claims, kind (of the timeline entry), status (null: unchanged), retry_after_ms (null: finished), lane_id (where it waits for
 * its retry), duplicate_possible, suppression (the reason for suppressing the recipient; null: none), detail.
 *
 * Indexes: outbox_pkey, emails_pkey, email_events_claim_kind_key. Locks: after the outbox rows (LOCK_OUTBOX_ROWS) the emails (which nobody else locks without
 * the outbox row), then the unique index of the timeline, in order.
 * Fencing: an outcome whose claim no longer holds changes no state, but is appended to the timeline as `late` and as a possible duplicate, unless the email is
 * gone, or being removed at that moment: the key of the email is locked, if it is free, so that nothing is left of one that goes.
 */
export const RECORD_OUTCOMES = `
WITH outcome AS MATERIALIZED (
  SELECT o.*, o.kind = 'SENT' AS is_sent,
         'EMAIL_' || CASE o.kind WHEN 'REPLY_LOST' THEN 'DELAYED' WHEN 'SUPPRESSED' THEN 'FAILED' ELSE o.kind::text END AS event
  FROM   json_to_recordset($1::json) AS o (
           n int, id uuid, workspace_id uuid, claims int, kind email_event_kind, status email_status, retry_after_ms bigint,
           lane_id text, duplicate_possible boolean, suppression suppression_reason, detail jsonb)
), ${applyOutcomes('b.attempts + 1')},
sent AS (
  UPDATE emails e SET status = 'SENT', sent_at = now() WHERE e.id = ANY (ARRAY(SELECT id FROM live WHERE is_sent))
),
changed AS (
  UPDATE emails e
  SET    status = l.status
  FROM   live l
  WHERE  e.id = l.id AND l.status IS NOT NULL AND NOT l.is_sent
  AND    e.id = ANY (ARRAY(SELECT id FROM live WHERE status IS NOT NULL AND NOT is_sent))
),
told AS (
  INSERT INTO email_events (email_id, kind, claims, late, duplicate_possible, detail)
  SELECT    o.id, o.kind, ${NOTED_CLAIM}, l.id IS NULL, o.duplicate_possible OR l.id IS NULL, o.detail
  FROM      outcome o
  LEFT JOIN live l ON l.n = o.n
  WHERE     l.id IS NOT NULL OR (SELECT true FROM emails e WHERE e.id = o.id FOR KEY SHARE SKIP LOCKED)
  ORDER BY  o.id, o.claims, o.kind
  ON CONFLICT DO NOTHING
)
SELECT    o.n, l.id IS NOT NULL AS live, ${recordEmailEvents('live')},
          (SELECT suppress_recipients(array_agg(s.id), array_agg(s.suppression)) FROM live s WHERE s.suppression IS NOT NULL) AS suppressed
FROM      outcome o
LEFT JOIN live l ON l.n = o.n
ORDER BY  o.n`;

/**
 * Locks the rows whose claims still hold. $1 uuid[], $2 int[]: ids and claims.
 * Index: outbox_pkey. Locks: in the order of the ids.
 */
const HELD = `held AS (
  SELECT   b.subject_id
  FROM     unnest($1::uuid[], $2::int[]) AS h (id, claims)
  JOIN     outbox b ON b.subject_id = h.id AND b.claims = h.claims AND b.state = 'taken'
  ORDER BY b.subject_id
  FOR NO KEY UPDATE OF b
)`;

/** Renews the leases of the rows of {@link HELD}, and returns them. $3 interval: the lease. */
export const RENEW_LEASES = `
WITH ${HELD}
UPDATE outbox b SET lease_until = now() + $3::interval FROM held h WHERE b.subject_id = h.subject_id
RETURNING b.subject_id AS id, b.claims`;

/** Makes the rows of {@link HELD} ready again, as if they had never been claimed (except for `claims`, which never decreases). */
export const GIVE_BACK = `
WITH ${HELD}
UPDATE outbox b SET state = 'ready', lease_until = NULL, unanswered = greatest(b.unanswered - 1, 0)
FROM   held h WHERE b.subject_id = h.subject_id`;

/** A lane `l` as the clock rings it. */
const RINGABLE = `l.queue, l.lane_id AS "laneId", EXISTS (SELECT FROM slow_lanes s WHERE s.lane_id = l.lane_id) AS "isSlow"`;

/** The distinct lanes of `rows`, as the clock rings them, if they are wanted. */
function lanesOf(rows: string, areWanted: string): string {
  return `
CASE WHEN ${areWanted} THEN (
  SELECT json_agg(r) FROM (SELECT ${RINGABLE} FROM (SELECT DISTINCT queue, lane_id FROM ${rows}) l) r
) END AS lanes`;
}

/**
 * Makes due rows ready. $1 int: maximum number. $2 float8: those that are due from then on, in seconds since 1970. $3 boolean: whether their lanes are wanted.
 * Returns how many there were, up to which time all are ready, and their lanes.
 *
 * Index: outbox_waiting_by_due_idx, from $2; then by ctid, which is stable while the rows are locked. (By primary key it took a tenth longer, and a join would
 * scan the whole outbox.)
 */
export const MAKE_READY = `
WITH due AS MATERIALIZED (
  SELECT   ctid, due_at, queue, lane_id FROM outbox
  WHERE    state = 'waiting' AND due_at >= to_timestamp($2::float8) AND due_at <= now()
  ORDER BY due_at
  LIMIT    $1::int
  FOR NO KEY UPDATE SKIP LOCKED
),
ready AS (
  UPDATE outbox o SET state = 'ready' WHERE o.ctid = ANY (ARRAY(SELECT ctid FROM due))
)
SELECT count(*)::int AS "madeReady",
       extract(epoch FROM CASE WHEN count(*) < $1::int THEN now() ELSE max(due_at) END)::float8 AS "readSeconds",
       ${lanesOf('due', '$3::boolean')}
FROM   due`;

/** Leases that expired earlier are abandoned; see {@link REVIVE}. */
const ABANDONED_BEFORE = `least(now(), to_timestamp($6::float8)) - $1::interval`;

/**
 * Frees rows whose lease expired long enough ago, or ends implausibly far in the future, because the database's clock was set back since.
 *
 * $1 interval: the grace period. $2 int: maximum number. $3 int: after this many consecutive claims without an outcome, an email or a delivery is given up
 * instead, so that a row that kills its workers does not do so for ever. $4 float8: leases that expired from then on, in seconds since 1970. $5 boolean: whether
 * the lanes of freed rows are wanted. $6 float8: as of when, in seconds since 1970, unless that is later than now. If the server stands still before it has read
 * this statement, it executes it when no lease has been renewed since.
 * A freed row keeps its lease: this tells the next claim that the previous worker died.
 * Index: outbox_taken_by_lease_idx, from $4 and at its end. Locks: the rows, skipping those that another scheduler is freeing or a worker recording;
 * then the emails and deliveries that are given up.
 */
export const REVIVE = `
WITH dead AS MATERIALIZED (
  SELECT o.*, o.queue <> 'event' AND o.unanswered >= $3::int AS is_given_up
  FROM   (VALUES (to_timestamp($4::float8), ${ABANDONED_BEFORE}), (now() + $1::interval + interval '${MAX_LEASE_MS} ms', 'infinity')) AS l (least, most)
  CROSS JOIN LATERAL (
    SELECT   subject_id, queue, lane_id, claims, unanswered, lease_until FROM outbox
    WHERE    state = 'taken' AND lease_until BETWEEN l.least AND l.most
    ORDER BY lease_until
    LIMIT    $2::int
    FOR NO KEY UPDATE SKIP LOCKED
  ) o
  LIMIT  $2::int
),
given_up AS (
  DELETE FROM outbox o USING dead d
  WHERE  o.subject_id = d.subject_id AND d.is_given_up
  RETURNING o.subject_id, o.claims, o.queue
),
failed AS (
  UPDATE emails e SET status = 'FAILED' FROM given_up g WHERE e.id = g.subject_id AND g.queue = 'email'
  RETURNING e.id, e.workspace_id, e.status, 'EMAIL_FAILED' AS event, '{"reason":"worker_died"}'::jsonb AS detail
),
told AS (
  INSERT INTO email_events (email_id, kind, claims, duplicate_possible, detail)
  SELECT subject_id, 'FAILED', claims, true, '{"reason":"worker_died"}' FROM given_up WHERE queue = 'email'
  ON CONFLICT DO NOTHING
),
exhausted AS (
  UPDATE webhook_deliveries v SET status = 'EXHAUSTED', finished_at = now(), attempts = v.attempts + 1
  FROM   given_up g
  WHERE  v.id = g.subject_id AND g.queue = 'webhook'
  RETURNING v.id, v.attempts, g.claims
),
attempted AS (
  INSERT INTO webhook_attempts (delivery_id, claims, number, error_class, duration_ms)
  SELECT id, claims, attempts, 'worker_died', 0 FROM exhausted
  ON CONFLICT DO NOTHING
),
revived AS (
  UPDATE outbox o SET state = 'ready'
  FROM   dead d
  WHERE  o.subject_id = d.subject_id AND NOT d.is_given_up
  RETURNING o.queue, o.lane_id
)
SELECT (SELECT count(*)::int FROM revived) AS revived, ${recordEmailEvents('failed')}, (SELECT count(*)::int FROM given_up) AS "givenUp",
       extract(epoch FROM CASE WHEN count(*) < $2::int THEN ${ABANDONED_BEFORE} ELSE least(min(lease_until), ${ABANDONED_BEFORE}) END)::float8 AS "readSeconds",
       ${lanesOf('revived', '$5::boolean')}
FROM   dead`;

/**
 * The lanes that have ready rows and are not paused, and whether they are slow. A loose index scan (one descent for each lane), so that the cost does not grow
 * with the number of rows. Indexes: outbox_ready_by_lane_idx, slow_lanes_pkey.
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
SELECT ${RINGABLE}
FROM   lane l
WHERE  NOT ${isPaused('l.queue', 'l.lane_id')}`;
