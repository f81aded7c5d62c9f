-- People; one row each, however many workspaces they are members of.
CREATE TABLE users (
  id         uuid        PRIMARY KEY,
  email      text        NOT NULL CHECK (email <> ''),
  name       text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX users_email_key ON users (lower(email));

CREATE TABLE memberships (
  id           uuid        PRIMARY KEY,
  workspace_id uuid        NOT NULL REFERENCES workspaces (id),
  user_id      uuid        NOT NULL REFERENCES users (id),
  role         role        NOT NULL,
  created_at   timestamptz NOT NULL
);
CREATE UNIQUE INDEX memberships_workspace_user_key ON memberships (workspace_id, user_id);
CREATE INDEX memberships_by_workspace_idx ON memberships (workspace_id, id);
CREATE INDEX memberships_by_user_idx ON memberships (user_id);

CREATE TABLE invitations (
  id           uuid        PRIMARY KEY,
  workspace_id uuid        NOT NULL REFERENCES workspaces (id),
  email        text        NOT NULL CHECK (email <> ''),
  name         text        CHECK (char_length(name) BETWEEN 1 AND 100),
  role         role        NOT NULL,
  token_hash   bytea       NOT NULL CHECK (octet_length(token_hash) = 32),
  created_at   timestamptz NOT NULL,
  expires_at   timestamptz NOT NULL,
  accepted_at  timestamptz,
  revoked_at   timestamptz,
  CONSTRAINT invitations_end_once CHECK (accepted_at IS NULL OR revoked_at IS NULL),
  CONSTRAINT invitations_expire_later CHECK (expires_at > created_at)
);
CREATE UNIQUE INDEX invitations_token_hash_key ON invitations (token_hash);
CREATE INDEX invitations_by_workspace_idx ON invitations (workspace_id, id);
-- At most one at a time for an address; and what counts towards the limit.
CREATE UNIQUE INDEX invitations_unanswered_email_key ON invitations (workspace_id, lower(email))
  WHERE accepted_at IS NULL AND revoked_at IS NULL;
-- Upkeep deletes from the front of this.
CREATE INDEX invitations_by_expiry_idx ON invitations (expires_at);

-- One row a mail, so that mails are counted. What is sealed has still to be handed over for sending.
CREATE TABLE invitation_mails (
  id            uuid        PRIMARY KEY,
  workspace_id  uuid        NOT NULL REFERENCES workspaces (id),
  invitation_id uuid        NOT NULL REFERENCES invitations (id) ON DELETE CASCADE,
  address_hash  bytea       NOT NULL CHECK (octet_length(address_hash) = 32),
  sealed_mail   bytea,
  created_at    timestamptz NOT NULL
);
CREATE INDEX invitation_mails_owed_idx ON invitation_mails (id) WHERE sealed_mail IS NOT NULL;
CREATE INDEX invitation_mails_by_invitation_idx ON invitation_mails (invitation_id);
-- How many mails were sent of late, to an address and from a workspace.
CREATE INDEX invitation_mails_by_address_idx ON invitation_mails (address_hash, created_at);
CREATE INDEX invitation_mails_by_workspace_idx ON invitation_mails (workspace_id, created_at);
