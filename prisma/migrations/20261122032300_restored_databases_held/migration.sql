-- A database that was restored is held back until an operator lets it go: what was due when its dump was made may have been sent since.
ALTER TABLE event_eras
  -- Where the era was begun: a dump that is restored, or a database that is copied, has other ones, on the same server too.
  ADD COLUMN database_oid bigint      NOT NULL DEFAULT 0,
  ADD COLUMN table_oid    bigint      NOT NULL DEFAULT 0,
  -- Kept by the scheduler: in a restored database the one of the era before says when the dump was made.
  ADD COLUMN alive_at     timestamptz NOT NULL DEFAULT now(),
  -- When an operator let it go; null: it is held back.
  ADD COLUMN released_at  timestamptz DEFAULT now();
ALTER TABLE event_eras
  ALTER COLUMN database_oid DROP DEFAULT,
  ALTER COLUMN table_oid DROP DEFAULT;

-- What this database is known by. The oid of a table is given when it is made, and pg_dump does not keep it.
CREATE FUNCTION database_identity(OUT system_identifier bigint, OUT database_oid bigint, OUT table_oid bigint)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT c.system_identifier, d.oid::bigint, 'event_eras'::regclass::oid::bigint
  FROM   pg_control_system() c, pg_database d
  WHERE  d.datname = current_database()
$$;

-- Only of the server that it is on: one that was restored before this migration is found out after it.
UPDATE event_eras e SET database_oid = i.database_oid, table_oid = i.table_oid
FROM   database_identity() i
WHERE  e.system_identifier = i.system_identifier;

CREATE FUNCTION is_era_of_here(era event_eras) RETURNS boolean
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT (era.system_identifier, era.database_oid, era.table_oid) = (i.system_identifier, i.database_oid, i.table_oid)
  FROM   database_identity() i
$$;

-- Begins an era and holds all queues back, unless nobody has a workspace here yet. Whoever calls it has locked events.
CREATE FUNCTION begin_event_era() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  here    integer := (SELECT max(era) + 1 FROM event_eras);
  is_used boolean := EXISTS (SELECT FROM workspaces WHERE NOT is_system);
BEGIN
  INSERT INTO event_eras (era, system_identifier, database_oid, table_oid, released_at)
  SELECT here, i.*, CASE WHEN is_used THEN NULL ELSE now() END FROM database_identity() i;
  EXECUTE format('ALTER TABLE events ALTER COLUMN era SET DEFAULT %s', here);
  IF is_used THEN
    INSERT INTO paused_lanes AS p (queue, lane_id, reason)
    SELECT q, '*', 'The database was restored' FROM unnest(enum_range(NULL::outbox_queue)) AS q
    -- An operator's own reason is kept beside it.
    ON CONFLICT (queue, lane_id) DO UPDATE SET reason = left(excluded.reason || '; before that: ' || p.reason, 500);
  END IF;
  RETURN here;
END
$$;

-- Begins another era when the database was restored or copied; gives the one that it is. Every connection asks before it works.
-- With the rights of whoever migrates: it changes a default. Locks, only then: events, until the transaction ends.
CREATE OR REPLACE FUNCTION keep_event_era() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  newest event_eras;
BEGIN
  SELECT * INTO newest FROM event_eras ORDER BY era DESC LIMIT 1;
  IF is_era_of_here(newest) THEN RETURN newest.era; END IF;
  -- Whoever writes events has finished then, and of several that begin the era one does.
  LOCK TABLE events IN ACCESS EXCLUSIVE MODE;
  SELECT * INTO newest FROM event_eras ORDER BY era DESC LIMIT 1;
  IF is_era_of_here(newest) THEN RETURN newest.era; END IF;
  RETURN begin_event_era();
END
$$;

-- The same where nothing shows it: a snapshot of the disk, or a base backup, is the server that it was made of.
CREATE FUNCTION begin_era_by_hand() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  LOCK TABLE events IN ACCESS EXCLUSIVE MODE;
  RETURN begin_event_era();
END
$$;
