ALTER TABLE workspaces
  ADD COLUMN rate_per_second integer CHECK (rate_per_second >= 0),
  ADD COLUMN rate_burst      integer CHECK (rate_burst >= 0),
  -- The workspace that Posthorn's own mails leave from; there is one.
  ADD COLUMN is_system       boolean NOT NULL DEFAULT false;
CREATE UNIQUE INDEX workspaces_one_system_key ON workspaces (is_system) WHERE is_system;

INSERT INTO workspaces (id, name, monthly_email_limit, is_system)
VALUES ('00000000-0000-7000-8000-000000000000', 'system', 0, true);

-- Flushed now and then, apart from requests.
ALTER TABLE api_keys ADD COLUMN last_used_at timestamptz;

-- Who changed what; append only.
CREATE TABLE audit_log (
  id           uuid        PRIMARY KEY,
  workspace_id uuid        NOT NULL REFERENCES workspaces (id),
  action       text        NOT NULL CHECK (char_length(action) BETWEEN 1 AND 64),
  actor        jsonb       NOT NULL CHECK (jsonb_typeof(actor) = 'object'),
  subject_id   text        NOT NULL,
  detail       jsonb       NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(detail) = 'object'),
  at           timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_log_by_workspace_idx ON audit_log (workspace_id, id);
