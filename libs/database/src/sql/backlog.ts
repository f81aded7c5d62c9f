import { isPaused } from './paused.ts';

/**
 * How many emails are in each state, counting at most $1 of each, so that a backlog of ten million need not be counted. Of those that wait, at most $1 rows of all
 * queues are read, the last due first: deliveries that wait for a retry, which may be millions while a receiver is down, are due before scheduled emails are.
 * Whether these were all is in `isMoreWaiting`.
 * Indexes: outbox_ready_by_lane_idx, outbox_waiting_by_due_idx from its end, outbox_taken_by_lease_idx.
 */
export const COUNT_EMAILS = `
SELECT (SELECT count(*)::int FROM (SELECT FROM outbox WHERE queue = 'email' AND state = 'ready' LIMIT $1::int) r) AS due,
       w.waiting, w."isMoreWaiting",
       (SELECT count(*)::int FROM (SELECT FROM outbox WHERE queue = 'email' AND state = 'taken' LIMIT $1::int) t) AS taken
FROM   (SELECT (count(*) FILTER (WHERE queue = 'email'))::int AS waiting, count(*) = $1::int AS "isMoreWaiting"
        FROM   (SELECT queue FROM outbox WHERE state = 'waiting' ORDER BY due_at DESC LIMIT $1::int) o) w`;

/**
 * For how many seconds the oldest row of `alias` has been due, apart from those of slow receivers: what these keep waiting is nothing that an operator could
 * mend.
 */
function oldestDueOf(alias: string): string {
  return `coalesce(greatest(extract(epoch FROM now() - min(${alias}.due_at) FILTER (WHERE NOT EXISTS (
           SELECT FROM slow_lanes l WHERE l.lane_id = ${alias}.lane_id
         ))), 0), 0)::float8`;
}

/**
 * The backlog of each queue: due and leased rows (at most $1 of each), and, ignoring paused lanes, the number of lanes with due rows, and for how many seconds
 * the oldest has been due, see {@link oldestDueOf}. Leased rows count as well: a few emails may all be in hand while a relay does not answer, or be tried again
 * and again. The first row of a lane in outbox_ready_by_lane_idx is its oldest, so each lane costs one descent. All lanes are visited, as in
 * LANES_WITH_READY_ROWS: if only the first ones were, paused ones among them, which may be thousands, would hide what waits behind them.
 * Indexes: outbox_ready_by_lane_idx, outbox_taken_by_lease_idx, paused_lanes_pkey, slow_lanes_pkey.
 */
export const MEASURE_BACKLOG = `
SELECT q.queue, l.lanes AS "dueLanes", greatest(l.oldest, t.oldest) AS "oldestDueSeconds", t.leased,
       (SELECT count(*)::int FROM (SELECT FROM outbox o WHERE o.queue = q.queue AND o.state = 'ready' LIMIT $1::int) r) AS due
FROM   unnest(enum_range(NULL::outbox_queue)) AS q (queue)
CROSS JOIN LATERAL (
  WITH RECURSIVE step AS (
    (SELECT   o.lane_id, o.due_at FROM outbox o
     WHERE    o.queue = q.queue AND o.state = 'ready'
     ORDER BY o.lane_id, o.due_at
     LIMIT    1)
    UNION ALL
    SELECT next.lane_id, next.due_at
    FROM   step s
    CROSS JOIN LATERAL (
      SELECT   o.lane_id, o.due_at FROM outbox o
      WHERE    o.queue = q.queue AND o.state = 'ready' AND o.lane_id > s.lane_id
      ORDER BY o.lane_id, o.due_at
      LIMIT    1
    ) next
  )
  SELECT count(*)::int AS lanes, ${oldestDueOf('s')} AS oldest
  FROM   step s
  WHERE  NOT ${isPaused('q.queue', 's.lane_id')}
) l
CROSS JOIN LATERAL (
  SELECT count(*)::int AS leased, ${oldestDueOf('o')} AS oldest
  FROM   (SELECT lane_id, due_at FROM outbox WHERE queue = q.queue AND state = 'taken' LIMIT $1::int) o
) t`;
