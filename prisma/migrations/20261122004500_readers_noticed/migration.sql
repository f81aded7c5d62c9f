-- What becomes of emails once they have arrived: they are opened, and their links are clicked.
ALTER TYPE email_event_kind ADD VALUE 'OPENED';
ALTER TYPE email_event_kind ADD VALUE 'CLICKED';

-- One row for each email that somebody or something has opened or clicked. Not in `emails`, whose rows are locked by those who record what became of
-- sending, in an order of their own.
CREATE TABLE email_engagements (
  email_id       uuid    NOT NULL,
  workspace_id   uuid    NOT NULL,
  group_by       text,
  opens          integer NOT NULL CHECK (opens >= 0),
  clicks         integer NOT NULL CHECK (clicks >= 0),
  machine_opens  integer NOT NULL CHECK (machine_opens >= 0),
  machine_clicks integer NOT NULL CHECK (machine_clicks >= 0),
  opened_at      timestamptz,
  clicked_at     timestamptz,
  PRIMARY KEY (email_id)
) PARTITION BY RANGE (email_id);

-- Counted by day as emails are: the day is in the key, and what is counted beside it, so that no row is read.
CREATE INDEX email_engagements_by_workspace_idx ON email_engagements (workspace_id, email_id) INCLUDE (opened_at, clicked_at);
CREATE INDEX email_engagements_by_group_idx ON email_engagements (workspace_id, group_by, email_id) INCLUDE (opened_at, clicked_at)
  WHERE group_by IS NOT NULL;

-- As before, with room on the pages of engagements too: all but the first open and click of an email touch no index by that.
CREATE OR REPLACE FUNCTION make_partition(parent text, month timestamp) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  name text := format('%s_%s', parent, to_char(month, 'YYYY_MM'));
BEGIN
  IF to_regclass(name) IS NOT NULL THEN RETURN false; END IF;
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL EXCLUDING INDEXES)', name, parent);
  IF parent IN ('emails', 'email_engagements') THEN PERFORM set_storage_of_emails(name); END IF;
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
  FOREACH parent IN ARRAY ARRAY['emails', 'email_contents', 'email_events', 'email_engagements', 'events', 'webhook_deliveries', 'webhook_attempts'] LOOP
    FOR offset_months IN 0 .. months_ahead LOOP
      month := date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => offset_months);
      IF make_partition(parent, month) THEN made := made + 1; END IF;
    END LOOP;
  END LOOP;
  RETURN made;
END
$$;

-- An engagement falls into the month of its email: each month of emails has its own.
SELECT make_partition('email_engagements', to_date(right(inhrelid::regclass::text, 7), 'YYYY_MM'))
FROM   pg_inherits
WHERE  inhparent = 'emails'::regclass;
