-- The number of an era is when it began, in seconds since 2026. Until now it was one more than the last: two restores of the same backup began the same era,
-- and a reader of the feed in the first one missed as many events of the second.
CREATE OR REPLACE FUNCTION begin_event_era() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  newest  integer := (SELECT max(era) FROM event_eras);
  seconds integer := extract(epoch FROM now() - timestamptz '2026-01-01 00:00:00+00');
  here    integer := greatest(newest + 1, seconds);
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
