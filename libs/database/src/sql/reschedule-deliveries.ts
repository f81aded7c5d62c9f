/**
 * The CTEs `kept`, `due` and `changed` of a statement that makes finished deliveries due at once, with a fresh retry schedule. Those that somebody else is removing
 * are left out: an outbox row without its delivery would be claimed for nothing.
 *
 * `claims` continues from its last value (that of a lost database is negative): it is part of the key of attempts, and a late outcome of an older claim must
 * change nothing. If several processes do this at once, the primary key of the outbox decides: whoever finds the row there changes nothing.
 * Indexes: webhook_attempts_pkey, events_pkey, outbox_pkey, webhook_deliveries_pkey. Locks: the keys of the deliveries, skipping those that somebody else has
 * locked; the new rows, in the order of the ids; then the deliveries.
 *
 * @param source a CTE with id, event_id, lane_id (of the webhook; passed in because computing it from the id for each row is slow)
 */
export function rescheduleDeliveries(source: string): string {
  return `
kept AS MATERIALIZED (
  SELECT s.* FROM ${source} s JOIN webhook_deliveries d ON d.id = s.id FOR KEY SHARE OF d SKIP LOCKED
),
due AS (
  INSERT INTO outbox (subject_id, queue, lane_id, state, due_at, bytes, claims)
  SELECT   s.id, 'webhook', s.lane_id, 'ready', now(), octet_length(e.payload),
           greatest((SELECT max(t.claims) FROM webhook_attempts t WHERE t.delivery_id = s.id), 0)
  FROM     kept s
  JOIN     events e ON e.id = s.event_id
  ORDER BY s.id
  ON CONFLICT DO NOTHING
  RETURNING subject_id
),
changed AS (
  UPDATE webhook_deliveries d SET status = 'PENDING', finished_at = NULL FROM due WHERE d.id = due.subject_id
)`;
}
