import { recordEmailEvents } from './email-events.ts';
import { mayHaveBeenSent } from './may-have-been-sent.ts';

/** Records that a scheduler is running on this database. Index: event_eras_pkey. Locks: the newest era. */
export const NOTE_ALIVE = `
UPDATE event_eras SET alive_at = now() WHERE era = (SELECT max(era) FROM event_eras)`;

/**
 * The newest era, and whether it began in this very database; if sending is paused after a restore, since when, and when the backup was made. Of several
 * restores without a resumption, the first backup counts, and the last pause: the last backup may be of a database that was paused and then resumed, and has
 * sent what fell due between. Index: event_eras_pkey. Locks: none.
 */
export const READ_ERA = `
SELECT e.alive_at AS "aliveAt", is_era_of_here(e) AS "isOfHere", now() AS now,
       held.began_at AS "heldSince", origin.alive_at AS "dumpedAt"
FROM   event_eras e
CROSS JOIN (SELECT min(era) AS first_era, max(began_at) AS began_at FROM event_eras WHERE released_at IS NULL) held
LEFT JOIN event_eras origin ON origin.era = (SELECT max(era) FROM event_eras WHERE era < held.first_era)
ORDER BY e.era DESC
LIMIT  1`;

/**
 * Counts the rows of each queue: those that were due at $1 timestamptz, those that fell due since, and those due later. $2 int: maximum rows to count.
 * Scans the outbox. Locks: none.
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

/**
 * Up to $4 int ready emails after the position $1 text, $2 timestamptz, $3 uuid, whenever they were due. Marked emails stay in this index, so a pass that
 * started each group at the front would read them again and again. Index: outbox_ready_by_lane_idx, in its order (index-only). Locks: none.
 */
export const READY_EMAILS_AFTER = `
SELECT   subject_id AS id, lane_id AS "laneId", due_at::text AS "dueAt" FROM outbox
WHERE    queue = 'email' AND state = 'ready' AND (lane_id, due_at, subject_id) > ($1::text, $2::timestamptz, $3::uuid)
ORDER BY lane_id, due_at, subject_id
LIMIT    $4::int`;

/**
 * Locks those of $1 uuid[] that are ready and were due before $2 timestamptz, skipping those that somebody else has locked.
 * Index: outbox_pkey. IS NOT DISTINCT FROM keeps the planner from using the index of ready rows, which has the id as its last column and would be scanned in
 * full. Locks: in the order of the ids.
 */
export const LOCK_READY = lockReady('true');

/** The same for emails that are not marked as doubtful yet. */
export const LOCK_UNMARKED = lockReady('lease_until IS NULL');

function lockReady(condition: string): string {
  return `
SELECT   subject_id AS id FROM outbox
WHERE    subject_id = ANY ($1::uuid[]) AND state IS NOT DISTINCT FROM 'ready' AND due_at < $2::timestamptz AND ${condition}
ORDER BY subject_id
FOR NO KEY UPDATE SKIP LOCKED`;
}

/**
 * Marks emails as failed. $1 uuid[]: their outbox rows, which must be locked. $2 jsonb: the detail for their timelines.
 * The timeline of those that may have been sent says so.
 * Indexes: outbox_pkey, emails_pkey, email_events_claim_kind_key. Locks: the emails.
 */
export const FAIL_EMAILS = `
WITH gone AS (
  DELETE FROM outbox o WHERE o.subject_id = ANY ($1::uuid[]) RETURNING o.subject_id, o.claims, o.lease_until, o.due_at
),
failed AS (
  UPDATE emails e SET status = 'FAILED'
  FROM   gone g
  WHERE  e.id = g.subject_id AND e.status IN ('SCHEDULED', 'SENT')
  RETURNING e.id, e.workspace_id, e.status, 'EMAIL_FAILED' AS event, $2::jsonb AS detail
),
told AS (
  INSERT INTO email_events (email_id, kind, claims, duplicate_possible, detail)
  SELECT g.subject_id, 'FAILED', g.claims,
         ${mayHaveBeenSent('g')},
         $2::jsonb
  FROM   gone g
  ON CONFLICT DO NOTHING
)
SELECT ${recordEmailEvents('failed')}`;

/**
 * Makes emails ready and marks them like those of a process that died, so that their timeline will say that they may be sent twice. $1 uuid[]: their outbox
 * rows, which must be locked. Index: outbox_pkey.
 */
export const MARK_DOUBTFUL = `
UPDATE outbox SET state = 'ready', lease_until = coalesce(lease_until, now()) WHERE subject_id = ANY ($1::uuid[])`;

/**
 * Resumes all queues that were paused as a whole at $1 timestamptz (to the millisecond), and what a restore has paused. A pause that somebody has begun since
 * stays: giving up emails before may take many minutes. One that seems to begin later is older: the clock was set back. Locks: those rows.
 */
export const RELEASE_ALL = `
WITH resumed AS (
  DELETE FROM paused_lanes
  WHERE  lane_id = '*' AND (date_trunc('milliseconds', paused_at) <= $1::timestamptz OR paused_at > now())
  RETURNING queue
),
released AS (
  UPDATE event_eras SET released_at = now() WHERE released_at IS NULL RETURNING 1
)
SELECT ARRAY(SELECT queue::text FROM resumed ORDER BY queue) AS queues, EXISTS (SELECT FROM released) AS "wasRestored", now() AS now`;
