CREATE TYPE identity_status AS ENUM ('PENDING', 'VERIFIED', 'AT_RISK', 'UNVERIFIED');

ALTER TABLE identities
  ADD COLUMN status     identity_status NOT NULL DEFAULT 'PENDING',
  -- An operator's word; whatever the DNS says, it stays verified.
  ADD COLUMN is_vouched boolean         NOT NULL DEFAULT false;

-- Until now only an operator could verify one.
UPDATE identities SET status = 'VERIFIED', is_vouched = true WHERE verified_at IS NOT NULL;

-- Accepting an email asks for the time alone.
ALTER TABLE identities ADD CONSTRAINT identities_status_fits_time
  CHECK ((status IN ('VERIFIED', 'AT_RISK')) = (verified_at IS NOT NULL));

CREATE TYPE dkim_algorithm AS ENUM ('rsa', 'ed25519');

CREATE TABLE dkim_keys (
  id          uuid           PRIMARY KEY,
  identity_id uuid           NOT NULL REFERENCES identities (id) ON DELETE CASCADE,
  algorithm   dkim_algorithm NOT NULL,
  selector    text           NOT NULL CHECK (selector ~ '^[a-z0-9-]{1,63}$'),
  public_key  text           NOT NULL CHECK (public_key <> ''),
  -- Encrypted with the key ring of the installation.
  private_key bytea          NOT NULL,
  created_at  timestamptz    NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX dkim_keys_identity_algorithm_key ON dkim_keys (identity_id, algorithm);

-- One for each domain that has keys: what the DNS said so far, and when it is asked again. Locked after its identity.
CREATE TABLE domain_checks (
  identity_id   uuid        PRIMARY KEY REFERENCES identities (id) ON DELETE CASCADE,
  -- The fencing token: what was found under an older number is not written down.
  claims        integer     NOT NULL DEFAULT 0 CHECK (claims >= 0),
  due_at        timestamptz,
  checked_at    timestamptz,
  rounds        integer     NOT NULL DEFAULT 0 CHECK (rounds >= 0),
  wrong_since   timestamptz,
  wrong_answers integer     NOT NULL DEFAULT 0 CHECK (wrong_answers >= 0),
  warned_at     timestamptz,
  findings      jsonb       NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(findings) = 'object'),
  CONSTRAINT domain_checks_wrong_has_time CHECK ((wrong_since IS NULL) = (wrong_answers = 0)),
  CONSTRAINT domain_checks_warned_is_wrong CHECK (warned_at IS NULL OR wrong_since IS NOT NULL)
);
-- The scheduler takes what has fallen due from the front of this.
CREATE INDEX domain_checks_by_due_idx ON domain_checks (due_at) WHERE due_at IS NOT NULL;

-- The links in mails that verify an address. They outlive their identity, because the mails that were sent are counted by them.
CREATE TABLE verification_links (
  id           uuid        PRIMARY KEY,
  identity_id  uuid        NOT NULL,
  workspace_id uuid        NOT NULL REFERENCES workspaces (id),
  token_hash   bytea       NOT NULL CHECK (octet_length(token_hash) = 32),
  -- SHA-256 of the address, in the form in which addresses are compared.
  address_hash bytea       NOT NULL CHECK (octet_length(address_hash) = 32),
  created_at   timestamptz NOT NULL,
  expires_at   timestamptz NOT NULL,
  used_at      timestamptz,
  CONSTRAINT verification_links_expire_later CHECK (expires_at > created_at)
);
CREATE UNIQUE INDEX verification_links_token_hash_key ON verification_links (token_hash);
-- How many mails went to an address, and from a workspace, of late.
CREATE INDEX verification_links_by_address_idx ON verification_links (address_hash, created_at);
CREATE INDEX verification_links_by_workspace_idx ON verification_links (workspace_id, created_at);
CREATE INDEX verification_links_by_age_idx ON verification_links (created_at);
