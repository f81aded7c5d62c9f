-- Who ---------------------------------------------------------------------------------------------------------------

CREATE TABLE workspaces (
  id                  uuid        PRIMARY KEY,
  name                text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  monthly_email_limit integer     CHECK (monthly_email_limit >= 0),
  created_at          timestamptz NOT NULL DEFAULT now()
);

CREATE TYPE role AS ENUM ('API_USER', 'EDITOR', 'VIEWER');

CREATE TABLE api_keys (
  id           uuid        PRIMARY KEY,
  workspace_id uuid        NOT NULL REFERENCES workspaces (id),
  display_name text        NOT NULL CHECK (char_length(display_name) BETWEEN 1 AND 100),
  role         role        NOT NULL,
  secret_hash  bytea       NOT NULL CHECK (octet_length(secret_hash) = 32),
  secret_hint  text        NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX api_keys_secret_hash_key ON api_keys (secret_hash);
CREATE INDEX api_keys_by_workspace_idx ON api_keys (workspace_id, created_at);

CREATE TYPE identity_kind AS ENUM ('address', 'domain');

CREATE TABLE identities (
  id           uuid          PRIMARY KEY,
  workspace_id uuid          NOT NULL REFERENCES workspaces (id),
  kind         identity_kind NOT NULL,
  value        text          NOT NULL,
  verified_at  timestamptz,
  created_at   timestamptz   NOT NULL DEFAULT now(),
  CONSTRAINT identities_value_fits_kind CHECK ((kind = 'address') = (strpos(value, '@') > 0))
);
CREATE UNIQUE INDEX identities_workspace_value_key ON identities (workspace_id, value);

CREATE TABLE usage (
  workspace_id  uuid    NOT NULL REFERENCES workspaces (id),
  month         date    NOT NULL CHECK (date_part('day', month) = 1),
  accepted      integer NOT NULL CHECK (accepted >= 0),
  granted       integer NOT NULL CHECK (granted >= 0),
  monthly_limit integer CHECK (monthly_limit > 0),
  PRIMARY KEY (workspace_id, month)
) WITH (fillfactor = 50); -- updated once a group of emails: room for updates that touch no index

-- What is sent ------------------------------------------------------------------------------------------------------
--
-- The big tables are partitioned by month on the time that the UUIDv7 carries, so that retention is a DROP. No foreign
-- key points at them, and none leaves them: a look-up for every email would cost more than the email's own row.

CREATE TYPE email_type AS ENUM ('raw', 'templated');
CREATE TYPE email_status AS ENUM
  ('SCHEDULED', 'SENT', 'DELIVERED', 'BOUNCED', 'COMPLAINED', 'FAILED', 'SUPPRESSED', 'CANCELLED');

CREATE TABLE emails (
  id           uuid         NOT NULL,
  workspace_id uuid         NOT NULL,
  type         email_type   NOT NULL,
  status       email_status NOT NULL,
  from_address text         NOT NULL,
  from_name    text,
  to_address   text         NOT NULL,
  to_name      text,
  reply_to     jsonb        CHECK (jsonb_typeof(reply_to) = 'array'),
  subject      text         NOT NULL,
  message_id   text         NOT NULL,
  group_by     text         CHECK (char_length(group_by) <= 255),
  track_clicks boolean      NOT NULL,
  track_opens  boolean      NOT NULL,
  send_at      timestamptz,
  accepted_at  timestamptz  NOT NULL,
  sent_at      timestamptz,
  PRIMARY KEY (id),
  CONSTRAINT emails_scheduled_has_time CHECK (status <> 'SCHEDULED' OR send_at IS NOT NULL),
  CONSTRAINT emails_unsent_has_no_sent_at
    CHECK (sent_at IS NULL OR status NOT IN ('SCHEDULED', 'SUPPRESSED', 'CANCELLED'))
) PARTITION BY RANGE (id);

CREATE TABLE email_contents (
  email_id           uuid NOT NULL,
  html               text NOT NULL,
  text               text,
  preview_text       text,
  contact_properties jsonb CHECK (jsonb_typeof(contact_properties) = 'object'),
  PRIMARY KEY (email_id)
) PARTITION BY RANGE (email_id);

CREATE TYPE email_event_kind AS ENUM ('SENT', 'DELAYED', 'REPLY_LOST', 'WORKER_DIED', 'BOUNCED', 'FAILED');
CREATE SEQUENCE email_events_id_seq CACHE 100;

CREATE TABLE email_events (
  email_id           uuid             NOT NULL,
  id                 bigint           NOT NULL DEFAULT nextval('email_events_id_seq'),
  kind               email_event_kind NOT NULL,
  at                 timestamptz      NOT NULL DEFAULT now(),
  claims             integer,
  late               boolean          NOT NULL DEFAULT false,
  duplicate_possible boolean          NOT NULL DEFAULT false,
  detail             jsonb            NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(detail) = 'object'),
  PRIMARY KEY (email_id, id)
) PARTITION BY RANGE (email_id);

-- An answer that is recorded twice (its COMMIT's reply was lost) leaves one row.
CREATE UNIQUE INDEX email_events_claim_kind_key ON email_events (email_id, claims, kind) WHERE claims IS NOT NULL;

CREATE TABLE idempotency_keys (
  workspace_id uuid        NOT NULL,
  key          text        NOT NULL CHECK (char_length(key) BETWEEN 1 AND 255),
  fingerprint  bytea       NOT NULL CHECK (octet_length(fingerprint) = 32),
  answer       text        NOT NULL,
  expires_at   timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, key)
);
CREATE INDEX idempotency_keys_by_expiry_idx ON idempotency_keys (expires_at);

-- What is due -------------------------------------------------------------------------------------------------------

CREATE TYPE outbox_queue AS ENUM ('email', 'event', 'webhook');
CREATE TYPE outbox_state AS ENUM ('waiting', 'ready', 'taken');

CREATE TABLE outbox (
  subject_id  uuid         PRIMARY KEY,
  queue       outbox_queue NOT NULL,
  lane_id     text         COLLATE "C" NOT NULL CHECK (char_length(lane_id) BETWEEN 1 AND 64),
  state       outbox_state NOT NULL,
  due_at      timestamptz  NOT NULL,
  lease_until timestamptz,
  claims      integer      NOT NULL DEFAULT 0 CHECK (claims >= 0),
  attempts    smallint     NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  unanswered  smallint     NOT NULL DEFAULT 0 CHECK (unanswered >= 0),
  bytes       integer      NOT NULL DEFAULT 0 CHECK (bytes >= 0),
  -- A ready row with a lease was freed when that had ended; the next claim tells the timeline.
  CONSTRAINT outbox_lease_fits_state
    CHECK (CASE state WHEN 'taken' THEN lease_until IS NOT NULL WHEN 'waiting' THEN lease_until IS NULL ELSE true END)
) WITH (
  fillfactor = 70,
  -- Rows come and go by the thousand a second; the default (a fifth of the table) would let the dead outnumber the living.
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.1,
  autovacuum_vacuum_cost_delay = 0
);

-- One lane's turn reads the front of this; the clock's skip-scan hops over it from lane to lane.
CREATE INDEX outbox_ready_by_lane_idx ON outbox (queue, lane_id, due_at, subject_id) WHERE state = 'ready';
-- The clock takes what has fallen due from the front of this.
CREATE INDEX outbox_waiting_by_due_idx ON outbox (due_at) WHERE state = 'waiting';
-- The clock finds dead leases at the front of this.
CREATE INDEX outbox_taken_by_lease_idx ON outbox (lease_until) WHERE state = 'taken';

CREATE TABLE paused_lanes (
  queue     outbox_queue NOT NULL,
  lane_id   text         COLLATE "C" NOT NULL,
  reason    text         NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
  paused_at timestamptz  NOT NULL DEFAULT now(),
  PRIMARY KEY (queue, lane_id)
);

-- Partitions --------------------------------------------------------------------------------------------------------

-- The least UUIDv7 of a moment: 48 bits of milliseconds (RFC 9562, section 5.7), then nothing.
CREATE FUNCTION uuid_v7_floor(moment timestamptz) RETURNS uuid
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN rpad(lpad(to_hex(floor(extract(epoch FROM moment) * 1000)::bigint), 12, '0'), 32, '0')::uuid;

-- Makes the monthly partitions from this month to `months_ahead` months on; says how many were missing. Safe to run
-- twice and from several places at once. Made apart and then attached, because that waits for nobody who reads or writes
-- emails, and makes nobody wait; CREATE TABLE … PARTITION OF would lock everybody out of the parent.
CREATE FUNCTION make_partitions(months_ahead integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  parent text;
  month  timestamp;
  name   text;
  made   integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('posthorn.make_partitions'));
  FOREACH parent IN ARRAY ARRAY['emails', 'email_contents', 'email_events'] LOOP
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
