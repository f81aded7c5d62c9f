/**
 * What has to be known of emails to judge who opened them; of those that have left, or are about to. $1 uuid[]. Index: emails_pkey.
 * Locks: the keys of the emails, in order: one that is being removed is not there, and one that is read stays until its hits are counted, so that they are removed with it.
 */
export const READ_HIT_EMAILS = `
SELECT e.id, e.workspace_id AS "workspaceId", e.group_by AS "groupBy", e.sent_at AS "sentAt", coalesce(e.send_at, e.accepted_at) AS "dueAt"
FROM   emails e
WHERE  e.id = ANY ($1::uuid[]) AND e.status NOT IN ('SCHEDULED', 'SUPPRESSED', 'CANCELLED')
ORDER BY e.id
FOR KEY SHARE OF e`;

/**
 * Adds to how often emails were opened and clicked, and gives what that comes to, and the transaction that does so. Nothing is added, and no row given,
 * where a transaction that was to add the same before has committed: the row's lock waits until that is known.
 *
 * $1 json: email_id (each once), workspace_id, group_by, opens, clicks, machine_opens, machine_clicks, opened_at, clicked_at. $2 xid8: that
 * transaction; null: there was none. One that is not older than this one went with a crash of the database.
 *
 * Index: email_engagements_pkey. Locks: the rows, in the order of the ids; whoever has them is alone with those emails' timelines of hits.
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
 * Adds hits to the timelines, and tells webhooks of those that are the first of a person. What a timeline has is not added again, and it has a
 * hundred clicks at most. In the transaction of {@link COUNT_HITS}, whose locks make this see what others told before.
 *
 * $1 json: email_id, workspace_id, kind, at, detail, same (what another entry is the same by), event (null: nobody is told).
 *
 * Index: email_events_pkey; then see the function in the migration. Locks: the new rows.
 */
export const TELL_HITS = `
WITH fact AS MATERIALIZED (
  SELECT f.* FROM json_to_recordset($1::json) AS f (
    email_id uuid, workspace_id uuid, kind email_event_kind, at timestamptz, detail jsonb, same jsonb, event text)
),
told AS (
  INSERT INTO email_events (email_id, kind, at, detail)
  SELECT   f.email_id, f.kind, f.at, f.detail
  FROM     fact f
  CROSS JOIN LATERAL (
    SELECT count(*) AS count, bool_or(v.detail @> f.same) AS is_there
    FROM   email_events v
    WHERE  v.email_id = f.email_id AND v.kind = f.kind
  ) v
  WHERE    v.count < 100 AND v.is_there IS NOT TRUE
  ORDER BY f.email_id, f.at
),
heard AS (
  SELECT f.email_id AS id, f.workspace_id, f.event, NULL::email_status AS status, f.detail FROM fact f WHERE f.event IS NOT NULL
)
SELECT unnest(record_email_events(array_agg(h.id), array_agg(h.workspace_id), array_agg(h.event), array_agg(h.status), array_agg(h.detail))) AS "laneId"
FROM   heard h`;
