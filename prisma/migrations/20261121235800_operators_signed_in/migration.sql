-- Who may use the dashboard. Names are compared as they are shown: in lower case.
CREATE TYPE operator_role AS ENUM ('viewer', 'operator');

CREATE TABLE operator_accounts (
  id            uuid          PRIMARY KEY,
  name          text          NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  role          operator_role NOT NULL,
  -- scrypt, with its salt and its cost: see password.ts in libs/signing.
  password_hash text          NOT NULL CHECK (password_hash <> ''),
  created_at    timestamptz   NOT NULL DEFAULT now(),
  signed_in_at  timestamptz
);
CREATE UNIQUE INDEX operator_accounts_name_key ON operator_accounts (name);

-- Of what is in the cookie only the SHA-256 is stored.
CREATE TABLE operator_sessions (
  token_hash   bytea       PRIMARY KEY CHECK (octet_length(token_hash) = 32),
  account_id   uuid        NOT NULL REFERENCES operator_accounts (id) ON DELETE CASCADE,
  created_at   timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX operator_sessions_by_account_idx ON operator_sessions (account_id);
CREATE INDEX operator_sessions_by_age_idx ON operator_sessions (created_at);
