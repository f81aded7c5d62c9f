-- A delivery is written once and changed once, almost always from PENDING to SUCCEEDED. That touches no index any more, so that the new
-- version of the row stays in its page (HOT): the index of what is exhausted asks a column that only changes with that, and pages have room for
-- a second version of each row.
ALTER TABLE webhook_deliveries
  ADD COLUMN is_exhausted boolean NOT NULL GENERATED ALWAYS AS (status = 'EXHAUSTED') STORED;

DROP INDEX webhook_deliveries_exhausted_idx;
CREATE INDEX webhook_deliveries_exhausted_idx ON webhook_deliveries (webhook_id, id) WHERE is_exhausted;

CREATE OR REPLACE FUNCTION make_partition(parent text, month timestamp) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  name text := format('%s_%s', parent, to_char(month, 'YYYY_MM'));
BEGIN
  IF to_regclass(name) IS NOT NULL THEN RETURN false; END IF;
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL EXCLUDING INDEXES)', name, parent);
  IF parent IN ('emails', 'email_engagements') THEN PERFORM set_storage_of_emails(name); END IF;
  IF parent = 'webhook_deliveries' THEN EXECUTE format('ALTER TABLE %I SET (fillfactor = 50)', name); END IF;
  EXECUTE format(
    'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
    parent, name,
    uuid_v7_floor(month AT TIME ZONE 'UTC'),
    uuid_v7_floor((month + interval '1 month') AT TIME ZONE 'UTC')
  );
  RETURN true;
END
$$;

DO $$
DECLARE
  name text;
BEGIN
  FOR name IN SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'webhook_deliveries'::regclass LOOP
    EXECUTE format('ALTER TABLE %s SET (fillfactor = 50)', name);
  END LOOP;
END
$$;
