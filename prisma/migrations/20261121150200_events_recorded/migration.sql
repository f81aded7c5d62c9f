CREATE TYPE webhook_status AS ENUM ('ACTIVE', 'PAUSED', 'DISABLED');

CREATE TABLE webhooks (
  id           uuid           PRIMARY KEY,
  workspace_id uuid           NOT NULL REFERENCES workspaces (id),
  url          text           NOT NULL CHECK (char_length(url) <= 2048),
  events       text[]         NOT NULL CHECK (cardinality(events) > 0),
  -- Encrypted with the key ring of the installation.
  token        bytea          NOT NULL,
  status       webhook_status NOT NULL DEFAULT 'ACTIVE',
  created_at   timestamptz    NOT NULL DEFAULT now(),
  updated_at   timestamptz    NOT NULL DEFAULT now()
);
CREATE INDEX webhooks_by_workspace_idx ON webhooks (workspace_id, created_at);

-- What happened, in the exact bytes that are posted about it; written in the transaction of what caused it.
CREATE TABLE events (
  id           uuid        NOT NULL,
  workspace_id uuid        NOT NULL,
  type         text        NOT NULL,
  payload      text        NOT NULL,
  -- The webhooks that were subscribed at that moment: there is a delivery for each of exactly these.
  webhook_ids  uuid[]      NOT NULL,
  -- The feed is read in the order of (xid, id), below the oldest transaction that still runs, so that it has no gaps.
  xid          xid8        NOT NULL DEFAULT pg_current_xact_id(),
  created_at   timestamptz NOT NULL,
  PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE INDEX events_feed_idx ON events (workspace_id, xid, id);

CREATE TYPE contact_status AS ENUM ('SUBSCRIBED', 'UNSUBSCRIBED');

CREATE TABLE contacts (
  id              uuid           PRIMARY KEY,
  workspace_id    uuid           NOT NULL REFERENCES workspaces (id),
  email           text           NOT NULL,
  properties      jsonb          NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(properties) = 'object'),
  status          contact_status NOT NULL DEFAULT 'SUBSCRIBED',
  unsubscribed_at timestamptz,
  created_at      timestamptz    NOT NULL DEFAULT now(),
  updated_at      timestamptz    NOT NULL DEFAULT now(),
  CONSTRAINT contacts_unsubscribed_has_time CHECK ((status = 'UNSUBSCRIBED') = (unsubscribed_at IS NOT NULL))
);
CREATE UNIQUE INDEX contacts_workspace_email_key ON contacts (workspace_id, lower(email));
CREATE INDEX contacts_by_workspace_idx ON contacts (workspace_id, id);

CREATE OR REPLACE FUNCTION make_partitions(months_ahead integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  parent text;
  month  timestamp;
  name   text;
  made   integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('posthorn.make_partitions'));
  FOREACH parent IN ARRAY ARRAY['emails', 'email_contents', 'email_events', 'events'] LOOP
    FOR offset_months IN 0 .. months_ahead LOOP
      month := date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => offset_months);
      name := format('%s_%s', parent, to_char(month, 'YYYY_MM'));
      CONTINUE WHEN to_regclass(name) IS NOT NULL;
      EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL EXCLUDING INDEXES)', name, parent);
      EXECUTE format(
        'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        parent, name,
        uuid_v7_floor(month AT TIME ZONE 'UTC'),
        uuid_v7_floor((month + interval '1 month') AT TIME ZONE 'UTC')
      );
      made := made + 1;
    END LOOP;
  END LOOP;
  RETURN made;
END
$$;

SELECT make_partitions(3);
