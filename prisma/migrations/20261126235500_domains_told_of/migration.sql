CREATE TYPE domain_notice_kind AS ENUM ('AT_RISK', 'UNVERIFIED');

-- What the editors of a workspace have still to be told of a domain by mail; deleted when the mails are durable.
CREATE TABLE domain_notices (
  id          uuid               PRIMARY KEY DEFAULT gen_random_uuid(),
  identity_id uuid               NOT NULL REFERENCES identities (id) ON DELETE CASCADE,
  kind        domain_notice_kind NOT NULL,
  created_at  timestamptz        NOT NULL DEFAULT now()
);
-- A domain that is deleted takes its notices with it.
CREATE INDEX domain_notices_by_identity_idx ON domain_notices (identity_id);
