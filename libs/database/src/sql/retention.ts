import { all, inIndexOrder } from './statement.ts';

/** For how many days each subject of a workspace `w` is kept. $1, $2 and $3 int: the installation's defaults for content, metadata and events. */
const DAYS_OF = `
  VALUES ('content'::retention_subject, w.content_days,  $1::int),
         ('metadata',                   w.metadata_days, $2::int),
         ('events',                     w.event_days,    $3::int)`;

/** The longest retention of any workspace, for each subject. Parameters as DAYS_OF. Scans the workspaces. Locks: none. */
export const LONGEST_RETENTION = `
SELECT greatest($1::int, max(w.content_days)) AS "contentDays", greatest($2::int, max(w.metadata_days)) AS "metadataDays",
       greatest($3::int, max(w.event_days)) AS "eventDays"
FROM   workspaces w`;

/**
 * Creates a round for each workspace with a retention of its own, or one shorter than the longest. (Everything else is removed by dropping monthly partitions.)
 * Parameters as DAYS_OF. Index: retention_rounds_pkey. Locks: the new rows, in the order of the key.
 */
export const OPEN_ROUNDS = `
WITH wanted AS (
  SELECT w.id, d.subject, d.own, d.common, greatest(d.common, max(d.own) OVER (PARTITION BY d.subject)) AS longest
  FROM   workspaces w CROSS JOIN LATERAL (${DAYS_OF}) AS d (subject, own, common)
)
INSERT INTO retention_rounds (workspace_id, subject)
SELECT   id, subject FROM wanted
WHERE    own IS NOT NULL OR common < longest
ORDER BY id, subject
ON CONFLICT DO NOTHING`;

/**
 * Takes the round that has been due longest, with its retention in days. Parameters as DAYS_OF. Index: retention_rounds_by_time_idx, from its front. Locks: the
 * round, skipping those that somebody else has locked.
 */
export const TAKE_ROUND = `
SELECT   r.workspace_id AS "workspaceId", r.subject, r.seen_era AS "seenEra", r.seen_xid::text AS "seenXid", r.seen_to AS "seenTo",
         (SELECT coalesce(d.own, d.common) FROM (${DAYS_OF}) AS d (subject, own, common) WHERE d.subject = r.subject) AS days
FROM     retention_rounds r
JOIN     workspaces w ON w.id = r.workspace_id
WHERE    r.next_at <= now()
ORDER BY r.next_at
LIMIT    1
FOR NO KEY UPDATE OF r SKIP LOCKED`;

/**
 * Records the progress of a round after a group. After its last group a round pauses for an hour and then continues with what has passed its retention since;
 * once a day it starts from the beginning. $1 uuid: the workspace. $2 text: the subject. $3 int, $4 xid8, $5 uuid: the position reached. $6 bool: whether this
 * was the last group. $7 int: the retention in days. Index: retention_rounds_pkey. Locks: only the round, which is locked already.
 */
export const GO_ON_WITH_ROUND = `
UPDATE retention_rounds r
SET    seen_era       = CASE WHEN $6 AND r.full_at <= now() THEN 0 ELSE $3::int END,
       seen_xid       = CASE WHEN $6 AND r.full_at <= now() THEN '0' ELSE $4::text::xid8 END,
       seen_to        = CASE WHEN $6 AND r.full_at <= now() THEN '00000000-0000-0000-0000-000000000000' ELSE $5::uuid END,
       full_at        = CASE WHEN $6 AND r.full_at <= now() THEN now() + interval '1 day' ELSE r.full_at END,
       next_at        = CASE WHEN $6::boolean THEN now() + interval '1 hour' ELSE now() END,
       removed_before = greatest(r.removed_before, now() - make_interval(days => $7::int))
WHERE  r.workspace_id = $1::uuid AND r.subject = $2::retention_subject`;

/**
 * Postpones a round that has failed, so that it does not block others. $1 uuid: the workspace. $2 text: the subject.
 * Index: retention_rounds_pkey. Locks: the row.
 */
export const PUT_ROUND_OFF = `
UPDATE retention_rounds r
SET    next_at = now() + interval '5 minutes'
WHERE  r.workspace_id = $1::uuid AND r.subject = $2::retention_subject`;

const OLD_IN_INDEX = inIndexOrder(
  [{ column: 'workspace_id', value: '$1::uuid' }],
  {
    from: '$2::uuid',
    to: `uuid_v7_floor(least(now() - make_interval(days => $3::int), now() - interval '1 hour'))`,
  },
  'createdAt.asc',
);

/**
 * The next emails of a workspace that are past their retention. Those of the last hour are excluded in any case, because running transactions may still add some.
 * $1 uuid: the workspace. $2 uuid: after this one. $3 int: days. $4 int: how many. Index: emails_by_workspace_idx, from that position (see {@link inIndexOrder}). Locks: none.
 */
export const OLD_EMAILS = `
SELECT   id FROM emails
WHERE    ${all(OLD_IN_INDEX.conditions)} AND id <> $2::uuid
ORDER BY ${OLD_IN_INDEX.order}
LIMIT    $4::int`;

/** Which of these are finished, that is, not in the outbox. $1 uuid[]. Index: outbox_pkey. Locks: none. */
export const FINISHED_OF = `
SELECT a.id FROM unnest($1::uuid[]) AS a (id) WHERE NOT EXISTS (SELECT FROM outbox o WHERE o.subject_id = a.id)`;

/** Deletes the contents of emails, by table. $1 uuid[]. Index: email_contents_pkey. Locks: the rows, which nobody else changes. */
export const REMOVE_CONTENTS = {
  email_contents: 'DELETE FROM email_contents WHERE email_id = ANY ($1::uuid[])',
} as const;

/**
 * Deletes emails, and then their dependent rows, by table. $1 uuid[]. Indexes: the primary keys. Locks: the emails, in order, so that whoever records
 * something about one either has finished or finds nothing; then the other rows.
 */
export const REMOVE_EMAILS = {
  emails: `
DELETE FROM emails e
WHERE  e.id IN (SELECT h.id FROM emails h WHERE h.id = ANY ($1::uuid[]) ORDER BY h.id FOR UPDATE) AND e.id = ANY ($1::uuid[])`,
  ...REMOVE_CONTENTS,
  email_events: 'DELETE FROM email_events WHERE email_id = ANY ($1::uuid[])',
  email_engagements: 'DELETE FROM email_engagements WHERE email_id = ANY ($1::uuid[])',
} as const;

/**
 * The next events of a workspace, in the order of the feed. $1 uuid: the workspace. $2 int, $3 xid8, $4 uuid: after this position. $5 int: retention in days.
 * $6 int: how many. Index: events_feed_idx, from that position. Locks: none.
 */
export const NEXT_EVENTS = `
SELECT   e.id, e.era, e.xid::text, e.id < uuid_v7_floor(now() - make_interval(days => $5::int)) AS "isOld"
FROM     events e
WHERE    e.workspace_id = $1::uuid AND (e.era, e.xid, e.id) > ($2::int, $3::text::xid8, $4::uuid)
ORDER BY e.era, e.xid, e.id
LIMIT    $6::int`;

/** The ids of the deliveries of events. $1 uuid[]: events. Index: events_pkey. Locks: none. */
export const DELIVERIES_OF = `
SELECT e.id AS "eventId", delivery_id(e.id, w.id) AS id FROM events e CROSS JOIN unnest(e.webhook_ids) AS w (id) WHERE e.id = ANY ($1::uuid[])`;

/**
 * Which of these deliveries must not be deleted yet: those that are unfinished, were exhausted recently, or are locked by somebody else. $1 uuid[]. $2 int: how
 * many days are recent. Index: webhook_deliveries_pkey. Locks: those that may be deleted, so that nobody makes them due again meanwhile; SKIP LOCKED, because
 * RECORD_DELIVERIES locks deliveries in a different order, so that waiting for it could deadlock.
 */
export const NEEDED_DELIVERIES = `
WITH free AS MATERIALIZED (
  SELECT d.id FROM webhook_deliveries d
  WHERE  d.id = ANY ($1::uuid[]) AND d.status <> 'PENDING'
  AND    (d.status <> 'EXHAUSTED' OR d.finished_at <= now() - make_interval(days => $2::int))
  FOR UPDATE SKIP LOCKED
)
SELECT d.id FROM webhook_deliveries d WHERE d.id = ANY ($1::uuid[]) AND d.id NOT IN (SELECT id FROM free)`;

/** Deletes deliveries and then their attempts, by table. $1 uuid[]: deliveries. Indexes: the primary keys. Locks: the rows. */
export const REMOVE_DELIVERIES = {
  webhook_deliveries: 'DELETE FROM webhook_deliveries WHERE id = ANY ($1::uuid[])',
  webhook_attempts: 'DELETE FROM webhook_attempts WHERE delivery_id = ANY ($1::uuid[])',
} as const;

/** Deletes events. $1 uuid[]. Index: events_pkey. Locks: the rows. */
export const REMOVE_EVENTS = { events: 'DELETE FROM events WHERE id = ANY ($1::uuid[])' } as const;
