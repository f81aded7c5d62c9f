/**
 * Adds what a process has counted to this minute, and deletes what is a day old. $1 text[]: what. $2 text[]: its label. $3 int[]: how
 * many; sorted by the first two, none twice. Index: rate_minutes_pkey. Locks: the rows of the minute, in order.
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

/** What was counted in the last hour; its rows are bounded by the labels. Index: rate_minutes_pkey, from its end. Locks: none. */
export const RATES_OF_LAST_HOUR = `
SELECT   minute, what, label, count
FROM     rate_minutes
WHERE    minute > now() - interval '1 hour'
ORDER BY minute`;

/**
 * Notes how a sender sees its relays. $1 text: the sender. $2 text[]: the relays, sorted, none twice. $3 boolean[]: whether they take emails.
 * Index: relay_views_pkey. Locks: the rows of the sender, and those of senders that were not seen for a day.
 */
export const NOTE_RELAYS = `
WITH old AS (
  DELETE FROM relay_views WHERE seen_at < now() - interval '1 day' AND observer <> $1::text
)
INSERT INTO relay_views (relay, observer, is_up, seen_at)
SELECT r.relay, $1::text, r.is_up, now()
FROM   unnest($2::text[], $3::boolean[]) r (relay, is_up)
ON CONFLICT (relay, observer) DO UPDATE SET is_up = excluded.is_up, seen_at = excluded.seen_at`;

/** How the senders that were seen lately see each relay. $1 int: seen in so many seconds. Locks: none. There are few rows. */
export const RELAYS_SEEN = `
SELECT   relay, count(*)::int AS senders, (count(*) FILTER (WHERE is_up))::int AS up, max(seen_at) AS "seenAt"
FROM     relay_views
WHERE    seen_at > now() - make_interval(secs => $1::int)
GROUP BY relay
ORDER BY relay`;
