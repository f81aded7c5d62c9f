-- Addresses that a workspace's emails are not sent to, whatever they are. An address is folded as that of a contact is: by this
-- database's own `lower`; its domain came in as lower-case punycode.
CREATE TYPE suppression_reason AS ENUM ('HARD_BOUNCE', 'COMPLAINT', 'MANUAL');
CREATE TABLE suppressions (
  id           uuid               PRIMARY KEY,
  workspace_id uuid               NOT NULL REFERENCES workspaces (id),
  email        text               NOT NULL,
  reason       suppression_reason NOT NULL,
  email_id     uuid,
  created_by   jsonb              NOT NULL,
  created_at   timestamptz        NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX suppressions_workspace_email_key ON suppressions (workspace_id, lower(email));
CREATE INDEX suppressions_by_workspace_idx ON suppressions (workspace_id, id);
CREATE INDEX suppressions_by_reason_idx ON suppressions (workspace_id, reason, id);

ALTER TYPE email_event_kind ADD VALUE 'SUPPRESSED';

-- Why nothing is sent to an address of a workspace just now; null: it is. Asked by the claim for each of its emails, so a function,
-- whose plan is kept. Index: suppressions_workspace_email_key. Locks: none.
CREATE FUNCTION why_withheld(workspace uuid, address text) RETURNS text
  LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT lower(s.reason::text) FROM suppressions s WHERE s.workspace_id = workspace AND lower(s.email) = lower(address));
END
$$;

-- Puts the recipients of these emails on the lists of their workspaces, each with its line in the audit log. One that is on it already
-- stays as it is. A function for the same reason as record_email_events: nearly no group has one.
-- Indexes: emails_pkey; suppressions_workspace_email_key. Locks: the new rows, in the order of that index.
CREATE FUNCTION suppress_recipients(ids uuid[], reasons suppression_reason[]) RETURNS int
  LANGUAGE plpgsql STRICT AS $$
DECLARE
  added int;
BEGIN
  WITH cause AS (
    SELECT DISTINCT ON (e.workspace_id, lower(e.to_address)) e.workspace_id, e.to_address, e.id, c.reason
    FROM   unnest(ids, reasons) AS c (id, reason)
    JOIN   emails e ON e.id = c.id
    ORDER BY e.workspace_id, lower(e.to_address), e.id
  ),
  suppressed AS (
    INSERT INTO suppressions (id, workspace_id, email, reason, email_id, created_by)
    SELECT new_uuid_v7(now()), c.workspace_id, c.to_address, c.reason, c.id, '{"kind":"system","name":"posthorn"}'
    FROM   cause c
    ON CONFLICT (workspace_id, lower(email)) DO NOTHING
    RETURNING id, workspace_id, reason, email_id, created_by
  ),
  audited AS (
    INSERT INTO audit_log (id, workspace_id, action, actor, subject_id, detail)
    SELECT new_uuid_v7(now()), s.workspace_id, 'suppression.created', s.created_by, type_id('sup', s.id),
           jsonb_build_object('reason', s.reason, 'emailId', type_id('trs', s.email_id))
    FROM   suppressed s
  )
  SELECT count(*)::int INTO added FROM suppressed;
  RETURN added;
END
$$;
