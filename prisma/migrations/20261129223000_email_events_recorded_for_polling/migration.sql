-- Whether the events of its emails are recorded even if no webhook is subscribed to them, because it polls the feed.
ALTER TABLE workspaces ADD COLUMN records_all_events boolean NOT NULL DEFAULT false;

-- As before, and records the events of workspaces that want all of them; an event without webhooks is not due. Gives the lanes in which some are, null for none.
-- Where nobody is subscribed, it costs one more look-up of the workspaces of the group.
-- Indexes: webhooks_by_workspace_idx, workspaces_pkey; then emails_pkey. Locks: the new rows.
CREATE OR REPLACE FUNCTION record_email_events(
  ids uuid[], workspace_ids uuid[], types text[], statuses email_status[], details jsonb[]
) RETURNS text[]
  LANGUAGE plpgsql STRICT AS $$
DECLARE
  lanes text[];
BEGIN
  IF NOT EXISTS (SELECT FROM webhooks w WHERE w.workspace_id = ANY (workspace_ids) AND w.events && types)
     AND NOT EXISTS (SELECT FROM workspaces s WHERE s.id = ANY (workspace_ids) AND s.records_all_events)
  THEN RETURN NULL; END IF;
  WITH cause AS MATERIALIZED (
    SELECT * FROM unnest(ids, workspace_ids, types, statuses, details) AS c (id, workspace_id, type, status, detail)
  ),
  audience AS MATERIALIZED (
    SELECT k.workspace_id, k.type, w.webhook_ids
    FROM   (SELECT DISTINCT c.workspace_id, c.type FROM cause c) k
    JOIN   workspaces s ON s.id = k.workspace_id
    CROSS JOIN LATERAL (
      SELECT coalesce(array_agg(w.id ORDER BY w.id), '{}') AS webhook_ids
      FROM   webhooks w
      WHERE  w.workspace_id = k.workspace_id AND k.type = ANY (w.events)
    ) w
    WHERE  s.records_all_events OR cardinality(w.webhook_ids) > 0
  ),
  heard AS MATERIALIZED (
    SELECT new_uuid_v7(now()) AS event_id, c.id, c.status, c.detail, a.workspace_id, a.type, a.webhook_ids
    FROM   audience a
    JOIN   cause c ON c.workspace_id = a.workspace_id AND c.type = a.type
  ),
  occurred AS (
    INSERT INTO events (id, workspace_id, type, payload, webhook_ids, created_at, traceparent)
    SELECT   h.event_id, h.workspace_id, h.type,
             json_strip_nulls(json_build_object(
               'event', h.type,
               'createdAt', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
               'data', json_build_object(
                 'email', json_build_object(
                   'id', type_id('trs', e.id), 'messageId', e.message_id, 'status', coalesce(h.status, e.status), 'to', e.to_address,
                   'type', e.type, 'from', CASE e.type WHEN 'raw' THEN e.from_address END, 'subject', e.subject,
                   'template', e.template_name, 'groupBy', e.group_by),
                 'class', CASE WHEN told.why THEN h.detail -> 'class' END,
                 'reason', CASE WHEN told.why THEN h.detail -> 'reason' END,
                 'reply', CASE WHEN told.why THEN h.detail -> 'reply' END,
                 'url', CASE WHEN h.type = 'EMAIL_CLICKED' THEN h.detail -> 'url' END)))::text,
             h.webhook_ids, now(), e.traceparent
    FROM     heard h
    JOIN     emails e ON e.id = h.id
    CROSS JOIN LATERAL (SELECT h.type IN ('EMAIL_DELAYED', 'EMAIL_BOUNCED', 'EMAIL_FAILED') AS why) told
    ORDER BY h.event_id
  ),
  due AS (
    INSERT INTO outbox (subject_id, queue, lane_id, state, due_at)
    SELECT h.event_id, 'event', type_id('wrk', h.workspace_id) || '.events', 'ready', now()
    FROM   heard h WHERE cardinality(h.webhook_ids) > 0 ORDER BY h.event_id
  )
  SELECT array_agg(DISTINCT type_id('wrk', a.workspace_id) || '.events') INTO lanes FROM audience a WHERE cardinality(a.webhook_ids) > 0;
  RETURN lanes;
END
$$;
