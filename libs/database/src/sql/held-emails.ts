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
 * Whether there are emails in the outbox that were due before $1 timestamptz, in the lanes $2 text[]; null: in all. It sees what somebody else has locked as it was
 * committed last, which the statements above skip. Indexes: outbox_waiting_by_due_idx, outbox_taken_by_lease_idx, outbox_ready_by_lane_idx. Locks: none.
 */
export const ARE_LEFT_BEFORE = `
SELECT ${['waiting', 'taken', 'ready'].map(someDueBefore).join('\n    OR ')} AS "areLeft"`;

function someDueBefore(state: string): string {
  return `EXISTS (
  SELECT FROM outbox WHERE state = '${state}' AND queue = 'email' AND due_at < $1::timestamptz AND ($2::text[] IS NULL OR lane_id = ANY ($2::text[]))
)`;
}
