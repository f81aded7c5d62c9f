/**
 * Locks ready emails of lanes that were due before a time, the oldest first. $1 text[]: the lanes. $2 timestamptz: the time. $3 int: at most so many of each lane. Rows
 * that somebody else has locked are skipped. They are changed by a separate statement: see LOCK_OUTBOX_ROWS. Index: outbox_ready_by_lane_idx.
 */
export const LOCK_HELD_READY = `
SELECT r.subject_id AS id
FROM   unnest($1::text[]) AS t (lane_id)
CROSS JOIN LATERAL (
  SELECT   o.subject_id
  FROM     outbox o
  WHERE    o.queue = 'email' AND o.lane_id = t.lane_id AND o.state = 'ready' AND o.due_at < $2::timestamptz
  ORDER BY o.due_at, o.subject_id
  LIMIT    $3::int
  FOR NO KEY UPDATE SKIP LOCKED
) r`;

/** The same for emails that were due, but are not ready yet. Index: outbox_waiting_by_due_idx. */
export const LOCK_HELD_WAITING = lockHeld(`state = 'waiting'`, 'due_at');

/** The same for emails whose worker died. Index: outbox_taken_by_lease_idx. */
export const LOCK_HELD_DEAD = lockHeld(`state = 'taken' AND lease_until < now()`, 'lease_until');

function lockHeld(condition: string, order: string): string {
  return `
SELECT   subject_id AS id FROM outbox
WHERE    ${condition} AND queue = 'email' AND lane_id = ANY ($1::text[]) AND due_at < $2::timestamptz
ORDER BY ${order}
LIMIT    $3::int
FOR NO KEY UPDATE SKIP LOCKED`;
}

/**
 * How many emails of lanes that were due before a time are being sent. $1 text[]: the lanes. $2 timestamptz: the time. Index: outbox_taken_by_lease_idx. Locks: none.
 */
export const COUNT_HELD_LEASED = `
SELECT count(*)::int AS leased FROM outbox
WHERE  state = 'taken' AND lease_until >= now() AND queue = 'email' AND lane_id = ANY ($1::text[]) AND due_at < $2::timestamptz`;
