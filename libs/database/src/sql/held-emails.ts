/**
 * Locks ready emails that were due before $1 timestamptz, the oldest first, $2 int at most of each of the lanes $3 text[], skipping those that somebody else has
 * locked. They are changed by a separate statement: see LOCK_OUTBOX_ROWS. Index: outbox_ready_by_lane_idx.
 */
export const LOCK_HELD_READY = `
SELECT r.subject_id AS id
FROM   unnest($3::text[]) AS t (lane_id)
CROSS JOIN LATERAL (
  SELECT   o.subject_id
  FROM     outbox o
  WHERE    o.queue = 'email' AND o.lane_id = t.lane_id AND o.state = 'ready' AND o.due_at < $1::timestamptz
  ORDER BY o.due_at, o.subject_id
  LIMIT    $2::int
  FOR NO KEY UPDATE SKIP LOCKED
) r`;

/** Unclaimed emails that leave their index as soon as they have been processed, so that each group reads the front of the index. */
const UNCLAIMED = {
  waiting: { condition: `state = 'waiting'`, order: 'due_at' }, // outbox_waiting_by_due_idx
  dead: { condition: `state = 'taken' AND lease_until < now()`, order: 'lease_until' }, // outbox_taken_by_lease_idx
} as const;

/** The same for emails that are due later, or whose worker died; $2 int at most in all. $3 null: of all lanes. */
export function lockDueBefore(state: keyof typeof UNCLAIMED): string {
  const { condition, order } = UNCLAIMED[state];
  return `
SELECT   subject_id AS id FROM outbox
WHERE    ${condition} AND queue = 'email' AND due_at < $1::timestamptz AND ($3::text[] IS NULL OR lane_id = ANY ($3::text[]))
ORDER BY ${order}
LIMIT    $2::int
FOR NO KEY UPDATE SKIP LOCKED`;
}

/**
 * How many emails that were due before $1 timestamptz are still leased, in the lanes $2 text[]; null: in all. Index: outbox_taken_by_lease_idx. Locks: none.
 */
export const COUNT_LEASED_BEFORE = `
SELECT count(*)::int AS leased FROM outbox
WHERE  state = 'taken' AND lease_until >= now() AND queue = 'email' AND due_at < $1::timestamptz
AND    ($2::text[] IS NULL OR lane_id = ANY ($2::text[]))`;
