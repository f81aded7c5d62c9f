import { isPaused } from './paused.ts';

/**
 * The CTEs `turn`, `candidate` and `claimed` of a statement that claims ready rows of several lanes of a queue: increments `claims` and sets a lease.
 *
 * $1 text[], $2 int[], $3 float8[]: distinct lanes, and of each the maximum rows and from which due time it is read ({@link LaneColumns}). $4 bigint: maximum
 * bytes of each lane (its first row is claimed whatever its size). $5 interval: the lease.
 *
 * Index: outbox_ready_by_lane_idx, from the due time of each lane; outbox_pkey, by a list of keys.
 * Locks: the candidates, skipping rows that another turn has locked; rows beyond the byte limit are released at the commit.
 * A ready row that still has a lease was freed from a dead process (see REVIVE), so its work may be done twice. Of the rows whose workers have died twice
 * in a row a claim takes only one per lane: if that row is the cause, few others are affected.
 *
 * The plan is cached, perhaps since a time when the outbox was empty. So the statement must leave the planner only one choice: access by a list of keys, or
 * nested loops where LIMIT or OFFSET 0 rules out any other join. Other tables are read by their keys in the same way (decision 12).
 *
 * @param queue the queue of the lanes
 * @param condition an additional condition on a lane, `t.lane_id`
 */
export function claimCtes(queue: 'email' | 'webhook', condition = 'true'): string {
  return `
turn AS (
  SELECT t.lane_id, t.max_rows, t.start
  FROM   unnest($1::text[], $2::int[], $3::float8[]) AS t (lane_id, max_rows, start)
  WHERE  NOT ${isPaused(`'${queue}'`, 't.lane_id')}
  AND    ${condition}
),
due AS (
  SELECT r.*, t.lane_id, count(*) OVER (PARTITION BY t.lane_id) >= t.max_rows AS is_full,
         sum(r.bytes) OVER in_order AS bytes_so_far,
         count(*) FILTER (WHERE r.unanswered > 1) OVER in_order AS suspects_so_far
  FROM   turn t
  CROSS JOIN LATERAL (
    SELECT   o.subject_id, o.due_at, o.bytes, o.lease_until, o.unanswered
    FROM     outbox o
    WHERE    o.queue = '${queue}' AND o.lane_id = t.lane_id AND o.state = 'ready' AND o.due_at >= to_timestamp(t.start)
    ORDER BY o.due_at, o.subject_id
    LIMIT    t.max_rows
    FOR NO KEY UPDATE SKIP LOCKED
  ) r
  WINDOW in_order AS (PARTITION BY t.lane_id ORDER BY r.due_at, r.subject_id)
),
candidate AS MATERIALIZED (
  SELECT subject_id, lane_id, is_full, lease_until IS NOT NULL AS from_the_dead,
         (bytes_so_far <= $4::bigint OR bytes_so_far = bytes) AND (unanswered <= 1 OR suspects_so_far = 1) AS fits
  FROM   due
),
claimed AS (
  UPDATE outbox o
  SET    state = 'taken', claims = o.claims + 1, unanswered = o.unanswered + 1, lease_until = now() + $5::interval
  WHERE  o.subject_id = ANY (ARRAY(SELECT subject_id FROM candidate WHERE fits))
  RETURNING o.subject_id, o.lane_id, o.due_at, o.claims, o.attempts, o.bytes
)`;
}

/** The columns that every claim returns of a row of `claimed c`. */
export const CLAIM_COLUMNS = `c.subject_id AS id, c.lane_id AS "laneId", c.claims, c.attempts, c.bytes,
         extract(epoch FROM c.due_at)::float8 AS "dueSeconds",
         c.lane_id IN (SELECT lane_id FROM candidate WHERE is_full OR NOT fits) AS "laneHasMore"`;

/**
 * Locks rows of the outbox. $1 uuid[]: their ids. Index: outbox_pkey. Locks: in the order of the ids.
 *
 * Must precede, in the same transaction, the statement that records outcomes. If that one had to wait for a row that another transaction then changes,
 * Postgres 18.4 would re-evaluate the row in the middle of several data-modifying CTEs and crash with all of its connections (decision 38). Fencing needs
 * it too: a row that is claimed again while the statement waits for it would be finished all the same.
 */
export const LOCK_OUTBOX_ROWS = `
SELECT FROM outbox WHERE subject_id = ANY ($1::uuid[]) ORDER BY subject_id FOR NO KEY UPDATE`;

/**
 * Whether an outcome `o` is of a claim that its row has not come to yet: it is of a database that was lost, and the restored one will give the number of the
 * claim to somebody else. So it is noted under the negative number. Index: outbox_pkey.
 */
export const IS_OF_LOST_DATABASE = `(SELECT b.claims < o.claims FROM outbox b WHERE b.subject_id = o.id)`;

/** The claim under which an outcome `o` is noted; `l` is the same in `live`, if it is there. See {@link IS_OF_LOST_DATABASE}. */
export const NOTED_CLAIM = `CASE WHEN l.id IS NULL AND ${IS_OF_LOST_DATABASE} THEN -o.claims ELSE o.claims END`;

/**
 * The CTEs `live`, `finished` and `again` of a statement that records the outcomes in `outcome`: n, id, claims, retry_after_ms (null: finished), lane_id
 * (where it waits for its retry). `live` contains the outcomes whose claim still holds, and whether their row is still taken.
 *
 * Index: outbox_pkey. Locks: none beyond those of {@link LOCK_OUTBOX_ROWS}.
 * Fencing: an outcome that is not in `live` must change no state. Recording an outcome is idempotent.
 * Where possible, rows are changed by lists of keys without a join to `live`: for such a join, Postgres would search, and sort, the whole list for each row.
 * Moreover, a list of keys can only be read by the index, so one plan serves all groups.
 *
 * @param steps an expression of a row `b` and an outcome `l`: the number of steps that a retried row has taken in its retry schedule
 */
export function applyOutcomes(steps: string): string {
  return `
live AS MATERIALIZED (
  SELECT o.*, held.is_taken
  FROM   (SELECT * FROM outcome ORDER BY id) o
  CROSS JOIN LATERAL (
    SELECT b.state = 'taken' AS is_taken
    FROM   outbox b
    WHERE  b.subject_id = o.id AND b.claims = o.claims AND b.unanswered > 0 -- else this very outcome has been recorded before
  ) held
),
finished AS (
  DELETE FROM outbox b WHERE b.subject_id = ANY (ARRAY(SELECT id FROM live WHERE retry_after_ms IS NULL))
),
again AS (
  UPDATE outbox b
  SET    state = 'waiting', due_at = now() + l.retry_after_ms * interval '1 millisecond', lease_until = NULL,
         lane_id = l.lane_id, attempts = ${steps}, unanswered = 0
  FROM   live l
  WHERE  b.subject_id = l.id AND l.retry_after_ms IS NOT NULL
  AND    b.subject_id = ANY (ARRAY(SELECT id FROM live WHERE retry_after_ms IS NOT NULL))
)`;
}
