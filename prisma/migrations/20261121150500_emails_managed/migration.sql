-- Templated emails: the version is pinned; what it says is rendered when it leaves.
ALTER TABLE emails
  ALTER COLUMN subject DROP NOT NULL,
  ADD COLUMN template_name       text,
  ADD COLUMN template_version_id uuid,
  -- The keys that this email was accepted under; they are kept for as long as it can be moved.
  ADD COLUMN idempotency_keys    text[] NOT NULL DEFAULT '{}',
  ADD CONSTRAINT emails_fields_fit_type CHECK (CASE type
    WHEN 'raw' THEN subject IS NOT NULL AND template_name IS NULL AND template_version_id IS NULL
    ELSE subject IS NULL AND template_name IS NOT NULL AND template_version_id IS NOT NULL END);

ALTER TABLE email_contents
  ALTER COLUMN html DROP NOT NULL,
  -- json, not jsonb, which would reorder the keys that a template goes through.
  ADD COLUMN variables json CHECK (json_typeof(variables) = 'object'),
  ADD CONSTRAINT email_contents_html_or_variables CHECK ((html IS NULL) <> (variables IS NULL)),
  DROP COLUMN contact_properties; -- the contact has them

ALTER TYPE email_event_kind ADD VALUE 'RESCHEDULED';
ALTER TYPE email_event_kind ADD VALUE 'CANCELLED';

-- The lists; their order is the key's, which is the order of time.
CREATE INDEX emails_by_workspace_idx ON emails (workspace_id, id);
CREATE INDEX emails_by_recipient_idx ON emails (workspace_id, to_address, id);
CREATE INDEX emails_by_group_idx ON emails (workspace_id, group_by, id) WHERE group_by IS NOT NULL;
CREATE INDEX emails_by_template_idx ON emails (workspace_id, template_name, id) WHERE template_name IS NOT NULL;
CREATE INDEX emails_by_rarer_status_idx ON emails (workspace_id, status, id) WHERE status NOT IN ('SENT', 'DELIVERED');
