import { recordEmailEvents } from './email-events.ts';

/**
 * Reads what is needed to tell whether a person or a program opened emails; only of emails that have been sent, or are about to be. $1 uuid[]. Index: emails_pkey.
 * Locks: the keys of the emails, in order, so that they cannot be deleted before their hits are recorded; otherwise the hits would outlive them.
 */
export const READ_HIT_EMAILS = `
SELECT e.id, e.workspace_id AS "workspaceId", e.group_by AS "groupBy", e.sent_at AS "sentAt", coalesce(e.send_at, e.accepted_at) AS "dueAt"
FROM   emails e
WHERE  e.id = ANY ($1::uuid[]) AND e.status NOT IN ('SCHEDULED', 'SUPPRESSED', 'CANCELLED')
ORDER BY e.id
FOR KEY SHARE OF e`;

/**
 * Adds to the counts of opens and clicks of emails; returns the new counts, and the id of this transaction. If an earlier transaction with the same additions
 * turns out to have committed, nothing is added and no row returned; the row locks make this wait until that is known.
 *
 * $1 json: email_id (distinct), workspace_id, group_by, opens, clicks, machine_opens, machine_clicks, opened_at, clicked_at. $2 xid8: the earlier
 * transaction; null: none. (If its id is not lower than that of this transaction, it was lost in a crash of the database.)
 *
 * Index: email_engagements_pkey. Locks: the rows, in the order of the ids; they also serialise TELL_HITS for these emails.
 */
export const COUNT_HITS = `
INSERT INTO email_engagements AS g (email_id, workspace_id, group_by, opens, clicks, machine_opens, machine_clicks, opened_at, clicked_at)
SELECT   h.*
FROM     json_to_recordset($1::json) AS h (
           email_id uuid, workspace_id uuid, group_by text, opens int, clicks int, machine_opens int, machine_clicks int,
           opened_at timestamptz, clicked_at timestamptz)
ORDER BY h.email_id
ON CONFLICT (email_id) DO UPDATE
SET      opens          = least(g.opens::bigint + excluded.opens, 2147483647),
         clicks         = least(g.clicks::bigint + excluded.clicks, 2147483647),
         machine_opens  = least(g.machine_opens::bigint + excluded.machine_opens, 2147483647),
         machine_clicks = least(g.machine_clicks::bigint + excluded.machine_clicks, 2147483647),
         opened_at      = least(g.opened_at, excluded.opened_at),
         clicked_at     = least(g.clicked_at, excluded.clicked_at)
WHERE    CASE WHEN $2::text::xid8 < pg_current_xact_id() THEN pg_xact_status($2::text::xid8) END IS DISTINCT FROM 'committed'
RETURNING email_id AS id, opens, clicks, machine_opens AS "machineOpens", machine_clicks AS "machineClicks", pg_current_xact_id()::text AS xid`;

/**
 * Adds hits to timelines, and records the events of those that have one. Entries that a timeline already has are not added again, and a timeline has at most
 * a hundred entries of each kind. Must run in the transaction of {@link COUNT_HITS}, whose locks make this see what others added before.
 *
 * $1 json: email_id, workspace_id, kind, at, detail, same (an existing entry whose detail contains this is the same), event (null: none).
 *
 * Index: email_events_pkey; see also the SQL function in the migration. Locks: the new rows.
 */
export const TELL_HITS = `
WITH fact AS MATERIALIZED (
  SELECT f.* FROM json_to_recordset($1::json) AS f (
    email_id uuid, workspace_id uuid, kind email_event_kind, at timestamptz, detail jsonb, same jsonb, event text)
),
told AS (
  INSERT INTO email_events (email_id, kind, at, detail)
  SELECT   n.email_id, n.kind, n.at, n.detail
  FROM     (
    SELECT f.*, v.count + row_number() OVER (PARTITION BY f.email_id, f.kind ORDER BY f.at) AS place
    FROM   fact f
    CROSS JOIN LATERAL (
      SELECT count(*) AS count, bool_or(v.detail @> f.same) AS is_there
      FROM   email_events v
      WHERE  v.email_id = f.email_id AND v.kind = f.kind
    ) v
    WHERE  v.is_there IS NOT TRUE
  ) n
  WHERE    n.place <= 100
  ORDER BY n.email_id, n.at
),
heard AS (
  SELECT f.email_id AS id, f.workspace_id, f.event, NULL::email_status AS status, f.detail FROM fact f WHERE f.event IS NOT NULL
)
SELECT ${recordEmailEvents('heard')}`;
