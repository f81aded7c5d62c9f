CREATE TABLE templates (
  id                 uuid        PRIMARY KEY,
  workspace_id       uuid        NOT NULL REFERENCES workspaces (id),
  name               text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  current_version_id uuid        NOT NULL,
  created_at         timestamptz NOT NULL DEFAULT now(),
  updated_at         timestamptz NOT NULL DEFAULT now(),
  -- Its versions stay: emails that were accepted before still need theirs.
  deleted_at         timestamptz
);
CREATE UNIQUE INDEX templates_living_name_key ON templates (workspace_id, name) WHERE deleted_at IS NULL;
CREATE INDEX templates_living_by_workspace_idx ON templates (workspace_id, id) WHERE deleted_at IS NULL;

-- What a template says; never changed. An email is pinned to one of these when it is accepted.
CREATE TABLE template_versions (
  id           uuid        PRIMARY KEY,
  template_id  uuid        NOT NULL REFERENCES templates (id),
  number       integer     NOT NULL CHECK (number >= 1),
  from_address text        NOT NULL,
  from_name    text,
  reply_to     jsonb       CHECK (jsonb_typeof(reply_to) = 'array'),
  subject      text        NOT NULL,
  html         text        NOT NULL,
  text         text,
  preview_text text,
  -- What a variable is when a call does not give it; json, not jsonb, which would reorder its keys.
  defaults     json        NOT NULL DEFAULT '{}' CHECK (json_typeof(defaults) = 'object'),
  -- The paths that are printed and have no default: a call must give them.
  required     text[]      NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX template_versions_template_number_key ON template_versions (template_id, number);

ALTER TABLE templates
  ADD CONSTRAINT templates_current_version_fkey
  FOREIGN KEY (current_version_id) REFERENCES template_versions (id) DEFERRABLE INITIALLY DEFERRED;
