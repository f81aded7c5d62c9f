import type { RetriedQueue } from '@posthorn/domain';
import { failureClassOf } from './failure-class.ts';
import { isPaused } from './paused.ts';

/**
 * The next rows of the outbox: $3 uuid: after this one. $4 int: maximum number. By their keys, in which no two are equal: a million scheduled
 * emails may be due at the same moment. Index: outbox_pkey, from that position.
 */
const NEXT_ROWS = `subject_id > $3::uuid ORDER BY subject_id LIMIT $4::int`;

/** $5 text: the domain of the recipient. $6 text: why the last attempt failed. NULL: any. Indexes: see {@link failureClassOf}. */
const WANTED_EMAIL = `
    AND    ($5::text IS NULL OR right(e.to_address, length($5::text) + 1) = '@' || $5::text)
    AND    ($6::text IS NULL OR ${failureClassOf('e.id')} = $6::text)`;

/** When the subject of a row `l` was first due. Indexes: primary keys. */
const SUBJECTS = {
  email: (condition: string): string => `
    SELECT coalesce(e.send_at, e.accepted_at) AS since FROM emails e
    WHERE  e.id = l.subject_id${condition}
    OFFSET 0`,
  webhook: (): string => `
    SELECT d.created_at AS since FROM webhook_deliveries d WHERE d.id = l.subject_id OFFSET 0`,
} as const;

/**
 * Makes retries due now that wait for a later time: those among the next rows of the outbox. $1 text[]: the lanes (NULL: all). $2 int[]: how many seconds after it was
 * first due each retry is due by its schedule. The others: see {@link NEXT_ROWS}, and for emails {@link WANTED_EMAIL}.
 *
 * They stay `waiting`, so that the clock makes them ready and rings their lanes, as those that are due by themselves.
 * A retry that is hastened uses up its step of the schedule, but no subject gets further ahead than the step in which its age is: however often it is hastened, it is
 * not given up for that before its last step.
 *
 * Returns how many rows were read, the last of them, how many are due now, how many of these are paused, and how many others were due already or are in progress,
 * among them those that somebody else has locked.
 * Indexes: outbox_pkey, and those of the parts; paused_lanes_pkey. Locks: the rows that wait, in order, skipping those that somebody else has locked.
 */
export function hastenRetries(queue: RetriedQueue): string {
  return hasten(queue, NEXT_ROWS, SUBJECTS[queue](WANTED_EMAIL));
}

/** The same for one email. $3 uuid: its id. */
export const HASTEN_EMAIL = hasten('email', 'subject_id = $3::uuid', SUBJECTS.email(''));

function hasten(queue: RetriedQueue, rows: string, subject: string): string {
  // A delivery that waits is always tried again; those of our own faults cost no attempt.
  const isRetry = queue === 'email' ? 'l.attempts > 0' : `(l.attempts > 0 OR l.state = 'waiting')`;
  return `
WITH looked AS MATERIALIZED (
  SELECT subject_id, queue, lane_id, state, due_at, attempts FROM outbox
  WHERE  ${rows}
),
retry AS MATERIALIZED (
  SELECT l.subject_id, s.since, l.state, l.state = 'waiting' AND l.due_at > now() AS is_later
  FROM   looked l
  CROSS JOIN LATERAL (${subject}
  ) s
  WHERE  l.queue = '${queue}' AND ${isRetry} AND ($1::text[] IS NULL OR l.lane_id = ANY ($1::text[]))
),
locked AS MATERIALIZED (
  SELECT   o.subject_id
  FROM     outbox o
  WHERE    o.subject_id = ANY (ARRAY(SELECT subject_id FROM retry WHERE is_later)) AND o.state IS NOT DISTINCT FROM 'waiting' AND o.due_at > now()
  ORDER BY o.subject_id
  FOR NO KEY UPDATE SKIP LOCKED
),
hastened AS (
  UPDATE outbox o
  SET    due_at = now(),
         attempts = least(o.attempts, 1 + (SELECT count(*) FROM unnest($2::int[]) AS t (seconds) WHERE r.since + t.seconds * interval '1 s' < now()))
  FROM   retry r
  WHERE  o.subject_id = ANY (ARRAY(SELECT subject_id FROM locked)) AND r.subject_id = o.subject_id
  RETURNING o.lane_id
)
SELECT (SELECT count(*)::int FROM looked) AS looked, (SELECT subject_id FROM looked ORDER BY subject_id DESC LIMIT 1) AS last,
       h.hastened, h.paused,
       (SELECT (count(*) FILTER (WHERE NOT is_later AND state <> 'taken'))::int FROM retry) AS "alreadyDue",
       (SELECT (count(*) FILTER (WHERE is_later OR state = 'taken'))::int FROM retry) - h.hastened AS "inProgress"
FROM   (SELECT count(*)::int AS hastened, (count(*) FILTER (WHERE ${isPaused(`'${queue}'`, 'hastened.lane_id')}))::int AS paused FROM hastened) h`;
}
