/**
 * Adds the counts of a process to the current minute, and deletes rows older than a day. $1 text[]: what was counted. $2 text[]: labels. $3 int[]: counts;
 * sorted by the first two, distinct. Index: rate_minutes_pkey. Locks: the rows of the minute, in order.
 */
export const ADD_RATES = `
WITH old AS (
  DELETE FROM rate_minutes WHERE minute < now() - interval '1 day'
)
INSERT INTO rate_minutes (minute, what, label, count)
SELECT date_trunc('minute', now()), c.what, c.label, c.count
FROM   unnest($1::text[], $2::text[], $3::int[]) WITH ORDINALITY AS c (what, label, count, place)
ORDER  BY c.place
ON CONFLICT (minute, what, label) DO UPDATE SET count = rate_minutes.count + excluded.count`;

/** The counts of the last hour; the number of rows is bounded by the labels. Index: rate_minutes_pkey, from its end. Locks: none. */
export const RATES_OF_LAST_HOUR = `
SELECT   minute, what, label, count
FROM     rate_minutes
WHERE    minute > now() - interval '1 hour'
ORDER BY minute`;

/**
 * Records which relays are available to a sender. $1 text: the sender. $2 text[]: the relays, sorted and distinct. $3 boolean[]: whether they accept emails.
 * $4 text[]: why not. Index: relay_views_pkey. Locks: the rows of the sender, and those of senders that have been gone for a day.
 */
export const NOTE_RELAYS = `
WITH old AS (
  DELETE FROM relay_views WHERE seen_at < now() - interval '1 day' AND observer <> $1::text
)
INSERT INTO relay_views (relay, observer, is_up, seen_at, reason)
SELECT r.relay, $1::text, r.is_up, now(), r.reason
FROM   unnest($2::text[], $3::boolean[], $4::text[]) r (relay, is_up, reason)
ON CONFLICT (relay, observer) DO UPDATE SET is_up = excluded.is_up, seen_at = excluded.seen_at, reason = excluded.reason`;

/** To how many recently active senders each relay is available, and the latest reason why it is not to the others. $1 int: active within this many seconds. Locks: none. There are few rows. */
export const RELAYS_SEEN = `
SELECT   relay, count(*)::int AS senders, (count(*) FILTER (WHERE is_up))::int AS up, max(seen_at) AS "seenAt",
         (array_agg(reason ORDER BY seen_at DESC) FILTER (WHERE NOT is_up))[1] AS reason
FROM     relay_views
WHERE    seen_at > now() - make_interval(secs => $1::int)
GROUP BY relay
ORDER BY relay`;
