-- The servers that the database has lived on. The numbers of transactions begin anew on another one, so what is ordered by them is
-- ordered by the era first.
CREATE TABLE event_eras (
  era               integer     PRIMARY KEY,
  -- pg_control_system(): each server is given another one when it is made.
  system_identifier bigint      NOT NULL,
  began_at          timestamptz NOT NULL DEFAULT now()
);
INSERT INTO event_eras (era, system_identifier) SELECT 1, system_identifier FROM pg_control_system();

-- A constant, which costs no insertion anything; the next era changes it.
ALTER TABLE events ADD COLUMN era integer NOT NULL DEFAULT 1;
DROP INDEX events_feed_idx;
CREATE INDEX events_feed_idx ON events (workspace_id, era, xid, id);

-- Begins another era when the database was restored on another server; gives the one that it is. Every process asks before it works.
-- With the rights of whoever migrates: it changes a default. Locks, only then: events, until the transaction ends.
CREATE FUNCTION keep_event_era() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  here   bigint := (SELECT system_identifier FROM pg_control_system());
  newest event_eras;
BEGIN
  SELECT * INTO newest FROM event_eras ORDER BY era DESC LIMIT 1;
  IF newest.system_identifier = here THEN RETURN newest.era; END IF;
  -- Whoever writes events has finished then, and of several that begin the era one does.
  LOCK TABLE events IN ACCESS EXCLUSIVE MODE;
  SELECT * INTO newest FROM event_eras ORDER BY era DESC LIMIT 1;
  IF newest.system_identifier = here THEN RETURN newest.era; END IF;
  INSERT INTO event_eras (era, system_identifier) VALUES (newest.era + 1, here);
  EXECUTE format('ALTER TABLE events ALTER COLUMN era SET DEFAULT %s', newest.era + 1);
  RETURN newest.era + 1;
END
$$;

-- Whether no month of events was dropped from this moment on. A day is allowed for: an event has the time at which its transaction began to
-- work, and is read when that has ended. Months before the first era were never asked for.
CREATE FUNCTION are_events_kept(since timestamptz) RETURNS boolean LANGUAGE sql STABLE STRICT RETURN
  NOT EXISTS (
    SELECT FROM generate_series(
      date_trunc('month', greatest(since - interval '1 day', (SELECT min(began_at) FROM event_eras)) AT TIME ZONE 'UTC'),
      date_trunc('month', now() AT TIME ZONE 'UTC'),
      interval '1 month') AS month
    WHERE to_regclass('events_' || to_char(month, 'YYYY_MM')) IS NULL);
