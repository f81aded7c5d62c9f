import { FIRST_ID } from '@posthorn/kernel';

/**
 * Where a reader without a position begins, so that nothing is missing behind it: after the last month that was dropped, and after what was removed of the
 * workspace; null: at the oldest event. And since when positions are valid now: with what are_events_kept and are_own_events_kept allow for. $1 uuid: the
 * workspace. Index: retention_rounds_pkey. Locks: none.
 */
const BEGINNING = `
SELECT greatest(g.dropped_to, g.removed_to) AS begins_at, greatest(g.dropped_to + interval '1 day', g.removed_to + interval '1 hour') AS kept_since
FROM   (SELECT (SELECT (max(month) + interval '1 month') AT TIME ZONE 'UTC'
                FROM   generate_series(
                         date_trunc('month', (SELECT min(began_at) FROM event_eras) AT TIME ZONE 'UTC'),
                         date_trunc('month', now() AT TIME ZONE 'UTC'),
                         interval '1 month') AS month
                WHERE  to_regclass('events_' || to_char(month, 'YYYY_MM')) IS NULL) AS dropped_to,
               (SELECT r.removed_before FROM retention_rounds r WHERE r.workspace_id = $1::uuid AND r.subject = 'events') AS removed_to) AS g`;

/**
 * Reads a workspace's events in the order of the feed (era, transaction id, id). It ends before the oldest transaction that is still running (the horizon of
 * the snapshot): all older transactions have ended, and this snapshot shows all that they wrote. So no event ever appears before one that was already read,
 * and a reader that continues from there misses nothing.
 *
 * Scans at most $7 events; the last one scanned is returned whether it matches or not, so that the reader knows where to continue. There is always a row; a
 * row without an id is no event.
 *
 * $1 uuid: the workspace. $2 integer, $3 xid8, $4 uuid: the position. $5 timestamptz: the time of the position; null: from BEGINNING on, and the answer says
 * since when positions are valid. $6 text: the event name; null: all. $8 integer: maximum events returned. Indexes: events_feed_idx, from the position; events_pkey for
 * the rows returned; event_eras_pkey. Locks: none.
 */
export const READ_EVENT_FEED = `
WITH here AS MATERIALIZED (
  SELECT (SELECT max(era) FROM event_eras) AS era, pg_snapshot_xmin(s) AS horizon, pg_snapshot_xmax(s) AS next,
         $2::integer = 0 OR EXISTS (SELECT FROM event_eras WHERE era = $2::integer) AS "hasEra",
         coalesce(are_events_kept($5::timestamptz) AND are_own_events_kept($1::uuid, $5::timestamptz), true) AS kept,
         b.begins_at, b.kept_since
  FROM   pg_current_snapshot() AS s
  LEFT JOIN LATERAL (${BEGINNING}) AS b ON $5::timestamptz IS NULL
),
seen AS (
  SELECT   e.id, e.era, e.xid, row_number() OVER (ORDER BY e.era, e.xid, e.id)::int AS n,
           NOT e.is_test AND ($6::text IS NULL OR e.type = $6::text) AS matches
  FROM     events e
  WHERE    e.workspace_id = $1::uuid AND (e.era, e.xid, e.id) > ($2::integer, $3::xid8, $4::uuid)
  AND      (e.era, e.xid) < ((SELECT era FROM here), (SELECT horizon FROM here))
  AND      e.id >= coalesce((SELECT uuid_v7_floor(begins_at) FROM here), '${FIRST_ID}')
  ORDER BY e.era, e.xid, e.id
  LIMIT    $7::integer
),
given AS (
  SELECT * FROM seen WHERE matches OR n = (SELECT max(n) FROM seen) ORDER BY era, xid, id LIMIT $8::integer
)
SELECT    here.era AS "thisEra", here.next::text, here."hasEra", here.kept, ceil(extract(epoch FROM here.kept_since) * 1000)::float8 AS "keptSinceMs",
          g.n, g.matches, g.id, g.era, g.xid::text, e.payload
FROM      here
LEFT JOIN (given g JOIN events e ON e.id = g.id) ON true
ORDER BY  g.n`;

/** The position of an event in the feed. $1 uuid: the event. $2 uuid: its workspace. $3 timestamptz: its time. Index: events_pkey. Locks: none. */
export const LOCATE_EVENT = `
SELECT    are_events_kept($3::timestamptz) AND are_own_events_kept($2::uuid, $3::timestamptz) AS kept, e.era, e.xid::text
FROM      (SELECT) AS here
LEFT JOIN events e ON e.id = $1::uuid AND e.workspace_id = $2::uuid`;
