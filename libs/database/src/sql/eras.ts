import { emailEvents } from './email-events.ts';

/** The scheduler works here. Index: event_eras_pkey. Locks: the newest era. */
export const NOTE_ALIVE = `
UPDATE event_eras SET alive_at = now() WHERE era = (SELECT max(era) FROM event_eras)`;

/**
 * The newest era, and whether this database is where it was begun; since when it is held back, and when the dump was made that it comes from. Of
 * several restorations that nobody let go the first counts. Index: event_eras_pkey. Locks: none.
 */
export const READ_ERA = `
SELECT e.era, e.alive_at AS "aliveAt", is_era_of_here(e) AS "isOfHere", now() AS now,
       held.began_at AS "heldSince", origin.alive_at AS "dumpedAt"
FROM   event_eras e
LEFT JOIN LATERAL (SELECT * FROM event_eras WHERE released_at IS NULL ORDER BY era LIMIT 1) held ON true
LEFT JOIN event_eras origin ON origin.era = held.era - 1
ORDER BY e.era DESC
LIMIT  1`;

/**
 * What waits in each queue: what was due already at $1 timestamptz, what fell due since, what will. $2 int: at most so many rows are looked at.
 * It reads the outbox from end to end. Locks: none.
 */
export const COUNT_DUE_SINCE = `
SELECT   q.queue,
         count(*) FILTER (WHERE o.due_at <= $1::timestamptz)::int AS "dueBefore",
         count(*) FILTER (WHERE o.due_at > $1::timestamptz AND o.due_at <= now())::int AS "dueSince",
         count(*) FILTER (WHERE o.due_at > now())::int AS later
FROM     unnest(enum_range(NULL::outbox_queue)) AS q (queue)
LEFT JOIN (SELECT queue, due_at FROM outbox LIMIT $2::int) o ON o.queue = q.queue
GROUP BY q.queue
ORDER BY q.queue`;

/** Where emails are found that nobody works on and that leave their index once they are dealt with, by their state: each index is read from the front. */
const UNCLAIMED = {
  waiting: { condition: `state = 'waiting'`, order: 'due_at' }, // outbox_waiting_by_due_idx
  dead: { condition: `state = 'taken' AND lease_until < now()`, order: 'lease_until' }, // outbox_taken_by_lease_idx
} as const;

/**
 * Locks emails that were due before $1 timestamptz, $2 int at most, skipping those that somebody else has locked. What is done to them is a statement
 * of its own: see LOCK_OUTBOX_ROWS.
 */
export function lockDueBefore(state: keyof typeof UNCLAIMED): string {
  const { condition, order } = UNCLAIMED[state];
  return `
SELECT   subject_id AS id FROM outbox
WHERE    ${condition} AND queue = 'email' AND due_at < $1::timestamptz
ORDER BY ${order}
LIMIT    $2::int
FOR NO KEY UPDATE SKIP LOCKED`;
}

/**
 * The ready emails after the place $1 text, $2 timestamptz, $3 uuid, up to $4 int of them, whenever they are due. Those that are marked stay where they
 * are, and so do those that are not due yet: a pass that began at the front for each group would read all of them each time.
 * Index: outbox_ready_by_lane_idx, in its order; the table is not read. Locks: none.
 */
export const READY_EMAILS_AFTER = `
SELECT   subject_id AS id, lane_id AS "laneId", due_at::text AS "dueAt" FROM outbox
WHERE    queue = 'email' AND state = 'ready' AND (lane_id, due_at, subject_id) > ($1::text, $2::timestamptz, $3::uuid)
ORDER BY lane_id, due_at, subject_id
LIMIT    $4::int`;

/**
 * Locks those of $1 uuid[] that are ready and were due before $2 timestamptz, skipping those that somebody else has locked.
 * Index: outbox_pkey. IS NOT DISTINCT FROM rules out the index of the ready rows, which has their ids last and would be read from end to end.
 * Locks: in the order of the ids.
 */
export const LOCK_READY = lockReady('true');

/** The same of those that are not marked as doubtful yet. */
export const LOCK_UNMARKED = lockReady('lease_until IS NULL');

function lockReady(condition: string): string {
  return `
SELECT   subject_id AS id FROM outbox
WHERE    subject_id = ANY ($1::uuid[]) AND state IS NOT DISTINCT FROM 'ready' AND due_at < $2::timestamptz AND ${condition}
ORDER BY subject_id
FOR NO KEY UPDATE SKIP LOCKED`;
}

/** How many emails that were due before $1 timestamptz somebody still has a lease of. Index: outbox_taken_by_lease_idx. Locks: none. */
export const COUNT_LEASED_BEFORE = `
SELECT count(*)::int AS leased FROM outbox
WHERE  state = 'taken' AND lease_until >= now() AND queue = 'email' AND due_at < $1::timestamptz`;

/**
 * Gives emails up. $1 uuid[]: their rows, which are locked. $2 jsonb: what their timelines say.
 * Indexes: outbox_pkey, emails_pkey, email_events_claim_kind_key. Locks: the emails.
 */
export const FAIL_EMAILS = `
WITH gone AS (
  DELETE FROM outbox o WHERE o.subject_id = ANY ($1::uuid[]) RETURNING o.subject_id, o.claims
),
failed AS (
  UPDATE emails e SET status = 'FAILED'
  FROM   gone g
  WHERE  e.id = g.subject_id AND e.status IN ('SCHEDULED', 'SENT')
  RETURNING e.id, e.workspace_id, e.status, 'EMAIL_FAILED' AS event, $2::jsonb AS detail
),
told AS (
  INSERT INTO email_events (email_id, kind, claims, detail)
  SELECT g.subject_id, 'FAILED', g.claims, $2::jsonb FROM gone g
  ON CONFLICT DO NOTHING
)
SELECT ${emailEvents('failed')}`;

/**
 * Makes emails due, marked like those of a process that died: whoever claims them says that they may be sent twice. $1 uuid[]: their rows,
 * which are locked. Index: outbox_pkey.
 */
export const MARK_DOUBTFUL = `
UPDATE outbox SET state = 'ready', lease_until = coalesce(lease_until, now()) WHERE subject_id = ANY ($1::uuid[])`;

/** Releases all queues that are held back as a whole, and the database with them. Locks: those rows. */
export const RELEASE_ALL = `
WITH resumed AS (
  DELETE FROM paused_lanes WHERE lane_id = '*' RETURNING queue
),
released AS (
  UPDATE event_eras SET released_at = now() WHERE released_at IS NULL RETURNING 1
)
SELECT ARRAY(SELECT queue::text FROM resumed ORDER BY queue) AS queues, EXISTS (SELECT FROM released) AS "wasRestored", now() AS now`;
