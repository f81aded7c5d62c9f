CREATE TYPE erasure_state AS ENUM ('REMOVING', 'REDACTING', 'COMPLETED');

-- What a workspace has asked to be erased about a person, a group at a time: each group moves `position` in its own transaction, so whoever dies
-- in it has done nothing, and whoever goes on begins there.
CREATE TABLE erasures (
  id             uuid          PRIMARY KEY,
  workspace_id   uuid          NOT NULL REFERENCES workspaces (id),
  -- SHA-256 of the address in lower case.
  address_hash   bytea         NOT NULL CHECK (octet_length(address_hash) = 32),
  -- For as long as it is searched for.
  address        text,
  is_suppressing boolean       NOT NULL,
  state          erasure_state NOT NULL DEFAULT 'REMOVING',
  -- The table that is searched, and the key up to which it was. The key can be one that a caller has chosen.
  step           text          NOT NULL DEFAULT 'emails',
  position       text[]        NOT NULL DEFAULT '{}',
  -- Increases with each group: who finds another value than it has read was overtaken.
  turn           integer       NOT NULL DEFAULT 0,
  passes         integer       NOT NULL DEFAULT 0,
  -- What has been added since it began to search is found by a search from the start.
  is_asked_again boolean       NOT NULL DEFAULT false,
  searched       bigint        NOT NULL DEFAULT 0 CHECK (searched >= 0),
  deleted        jsonb         NOT NULL DEFAULT '{}',
  redacted       jsonb         NOT NULL DEFAULT '{}',
  remaining      jsonb         NOT NULL DEFAULT '{}',
  is_remembered  boolean       NOT NULL DEFAULT false,
  cancelled      integer       NOT NULL DEFAULT 0 CHECK (cancelled >= 0),
  in_progress    integer       NOT NULL DEFAULT 0 CHECK (in_progress >= 0),
  created_at     timestamptz   NOT NULL,
  -- Those that have waited longest are served first.
  next_at        timestamptz   NOT NULL,
  finished_at    timestamptz,
  CONSTRAINT erasures_completed_has_time CHECK ((state = 'COMPLETED') = (finished_at IS NOT NULL)),
  CONSTRAINT erasures_completed_has_no_address CHECK ((state = 'COMPLETED') = (address IS NULL))
);
CREATE UNIQUE INDEX erasures_one_at_once_key ON erasures (workspace_id, address_hash) WHERE state <> 'COMPLETED';
CREATE INDEX erasures_unfinished_idx ON erasures (workspace_id, id) WHERE state <> 'COMPLETED';
CREATE INDEX erasures_finished_idx ON erasures (finished_at) WHERE state = 'COMPLETED';
