-- Ids --------------------------------------------------------------------------------------------------------------

-- A prefix, `_`, and the id in Crockford's base 32: an id as people and lanes have it (https://github.com/jetify-com/typeid/tree/main/spec).
CREATE FUNCTION type_id(prefix text, id uuid) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN prefix || '_' || (
    SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits FROM 5 * place + 1 FOR 5)::integer + 1, 1), '' ORDER BY place)
    FROM   (SELECT B'00' || ('x' || replace(id::text, '-', ''))::bit(128)) AS padded (bits), generate_series(0, 25) AS place);

-- The id of the delivery of an event to a webhook: the event's time, so that it falls into the same month, and then as many bits of a
-- hash of both as a UUIDv7 has room for. Whoever makes the delivery a second time meets the primary key.
CREATE FUNCTION delivery_id(event_id uuid, webhook_id uuid) RETURNS uuid
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (
    SELECT (left(replace(event_id::text, '-', ''), 12) || '7' || left(hash, 3)
            || substr('89ab', (('x' || substr(hash, 4, 1))::bit(4)::integer & 3) + 1, 1) || substr(hash, 5, 15))::uuid
    FROM   (SELECT encode(sha256(uuid_send(event_id) || uuid_send(webhook_id)), 'hex')) AS hashed (hash));

-- Who is told, and what became of it --------------------------------------------------------------------------------

CREATE TYPE delivery_status AS ENUM ('PENDING', 'SUCCEEDED', 'EXHAUSTED', 'EXPIRED', 'CANCELLED');
CREATE TYPE post_error_class AS ENUM
  ('dns', 'blocked', 'connect', 'tls', 'timeout', 'protocol', 'http', 'worker_died');

-- One event to one webhook; its bytes are the event's.
CREATE TABLE webhook_deliveries (
  id           uuid            NOT NULL,
  workspace_id uuid            NOT NULL,
  webhook_id   uuid            NOT NULL,
  event_id     uuid            NOT NULL,
  status       delivery_status NOT NULL DEFAULT 'PENDING',
  -- Answers recorded in all; outbox.attempts counts those since it was last put back, by which it is tried again.
  attempts     integer         NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  created_at   timestamptz     NOT NULL DEFAULT now(),
  finished_at  timestamptz,
  PRIMARY KEY (id),
  CONSTRAINT webhook_deliveries_finished_has_time CHECK ((status = 'PENDING') = (finished_at IS NULL))
) PARTITION BY RANGE (id);
CREATE INDEX webhook_deliveries_by_webhook_idx ON webhook_deliveries (webhook_id, id);
-- What is put back when a webhook is active again.
CREATE INDEX webhook_deliveries_exhausted_idx ON webhook_deliveries (webhook_id, id) WHERE status = 'EXHAUSTED';

-- One POST of a delivery that was answered, or whose answer is known to be missing.
CREATE TABLE webhook_attempts (
  delivery_id uuid             NOT NULL,
  -- The claim under which it was made (outbox.claims): recorded twice it leaves one row.
  claims      integer          NOT NULL,
  -- As its receiver was told; two have the same when the first was recorded late.
  number      integer          NOT NULL CHECK (number >= 1),
  at          timestamptz      NOT NULL DEFAULT now(),
  status_code smallint         CHECK (status_code BETWEEN 100 AND 999),
  error_class post_error_class,
  reason      text             CHECK (char_length(reason) <= 1000),
  -- Of the answer; names in lower case.
  headers     jsonb            CHECK (jsonb_typeof(headers) = 'object'),
  -- How the answer begins.
  body        text             CHECK (char_length(body) <= 4096),
  duration_ms integer          NOT NULL CHECK (duration_ms >= 0),
  -- The answer came after the claim had moved on: it changed no state.
  late        boolean          NOT NULL DEFAULT false,
  PRIMARY KEY (delivery_id, claims),
  CONSTRAINT webhook_attempts_failed_or_answered_well 
    CHECK (error_class IS NOT NULL OR coalesce(status_code BETWEEN 200 AND 299, false))
) PARTITION BY RANGE (delivery_id);

ALTER TABLE webhooks
  -- Since when there were only failures; null: none since the last success.
  ADD COLUMN failing_since   timestamptz,
  -- When the workspace was warned of that.
  ADD COLUMN warned_at       timestamptz,
  -- What had been given up by then is put back; null: nothing is to be.
  ADD COLUMN put_back_before timestamptz,
  ADD CONSTRAINT webhooks_warned_while_failing CHECK (warned_at IS NULL OR failing_since IS NOT NULL);
CREATE INDEX webhooks_to_put_back_idx ON webhooks (id) WHERE put_back_before IS NOT NULL;

-- Lanes whose receivers let us wait; they have workers of their own, until one answers in time.
CREATE TABLE slow_lanes (
  lane_id text        COLLATE "C" PRIMARY KEY,
  since   timestamptz NOT NULL DEFAULT now()
);

CREATE TYPE webhook_notice_kind AS ENUM ('FAILING', 'DISABLED_GONE', 'DISABLED_FAILING');

-- What the editors of a workspace have still to be told of a webhook by mail; deleted when the mails are durable.
CREATE TABLE webhook_notices (
  id           uuid                PRIMARY KEY DEFAULT gen_random_uuid(),
  workspace_id uuid                NOT NULL REFERENCES workspaces (id),
  webhook_id   uuid                NOT NULL,
  kind         webhook_notice_kind NOT NULL,
  created_at   timestamptz         NOT NULL DEFAULT now()
);

-- Partitions --------------------------------------------------------------------------------------------------------

-- Makes the partition of one month, given its first moment in UTC; says whether it was missing. Made apart and then attached: see make_partitions.
CREATE FUNCTION make_partition(parent text, month timestamp) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  name text := format('%s_%s', parent, to_char(month, 'YYYY_MM'));
BEGIN
  IF to_regclass(name) IS NOT NULL THEN RETURN false; END IF;
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL EXCLUDING INDEXES)', name, parent);
  IF parent = 'emails' THEN PERFORM set_storage_of_emails(name); END IF;
  EXECUTE format(
    'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
    parent, name,
    uuid_v7_floor(month AT TIME ZONE 'UTC'),
    uuid_v7_floor((month + interval '1 month') AT TIME ZONE 'UTC')
  );
  RETURN true;
END
$$;

CREATE OR REPLACE FUNCTION make_partitions(months_ahead integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  parent text;
  month  timestamp;
  made   integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('posthorn.make_partitions'));
  FOREACH parent IN ARRAY ARRAY['emails', 'email_contents', 'email_events', 'events', 'webhook_deliveries', 'webhook_attempts'] LOOP
    FOR offset_months IN 0 .. months_ahead LOOP
      month := date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => offset_months);
      IF make_partition(parent, month) THEN made := made + 1; END IF;
    END LOOP;
  END LOOP;
  RETURN made;
END
$$;

-- A delivery falls into the month of its event, which can be an earlier one: each month of events has its deliveries.
SELECT make_partition(parent, to_date(right(inhrelid::regclass::text, 7), 'YYYY_MM'))
FROM   pg_inherits, unnest(ARRAY['webhook_deliveries', 'webhook_attempts']) AS parent
WHERE  inhparent = 'events'::regclass;

-- Drops the months of events and of what became of them that ended so many days ago or earlier, but for one that something due was made
-- in, an email even: that is told by one look at a key. Says how many tables there were.
CREATE FUNCTION drop_old_events(kept_days integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  suffix  text;
  month   timestamp;
  ended   timestamptz;
  dropped integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('posthorn.make_partitions'));
  FOR suffix IN SELECT right(inhrelid::regclass::text, 7) FROM pg_inherits WHERE inhparent = 'events'::regclass LOOP
    month := to_date(suffix, 'YYYY_MM');
    ended := (month + interval '1 month') AT TIME ZONE 'UTC';
    CONTINUE WHEN ended > now() - make_interval(days => kept_days);
    CONTINUE WHEN EXISTS (
      SELECT FROM outbox
      WHERE  subject_id >= uuid_v7_floor(month AT TIME ZONE 'UTC') AND subject_id < uuid_v7_floor(ended));
    EXECUTE format('DROP TABLE %I, %I, %I', 'webhook_attempts_' || suffix, 'webhook_deliveries_' || suffix, 'events_' || suffix);
    dropped := dropped + 3;
  END LOOP;
  RETURN dropped;
END
$$;
