/**
 * The parts `due` and `changed` of a statement: makes finished deliveries due at once, with all of their retries before them.
 *
 * Their claims go on from where they were: a claim is the key of its attempt, and what a process says of an older one must change
 * nothing. The key of the outbox decides between several who do this at once: who finds the row there changes nothing.
 * Indexes: webhook_attempts_pkey, events_pkey, outbox_pkey. Locks: the new rows, in the order of the ids, then the deliveries.
 *
 * @param source what they are in: id, event_id, lane_id (of their webhook; to make that text of an id is slow, so it is made once)
 */
export function dueAgain(source: string): string {
  return `
due AS (
  INSERT INTO outbox (subject_id, queue, lane_id, state, due_at, bytes, claims)
  SELECT   s.id, 'webhook', s.lane_id, 'ready', now(), octet_length(e.payload),
           coalesce((SELECT max(t.claims) FROM webhook_attempts t WHERE t.delivery_id = s.id), 0)
  FROM     ${source} s
  JOIN     events e ON e.id = s.event_id
  ORDER BY s.id
  ON CONFLICT DO NOTHING
  RETURNING subject_id
),
changed AS (
  UPDATE webhook_deliveries d SET status = 'PENDING', finished_at = NULL FROM due WHERE d.id = due.subject_id
)`;
}
