-- Drops the oldest month of events and of what became of them that ended so many days ago or earlier and is not needed. Says how many tables there
-- were; 0: there is nothing to drop. One month at a time, and whoever waits for its locks longer than half a second gives up, as drop_old_emails does: the
-- database's own two seconds held up everybody who told of something, and outlasted the look for deadlocks. Who sends a delivery again has seen it in
-- its month until the transaction ends, so a month is looked at again when nobody can: the parents are locked first, as everybody does who gets at a
-- month by them.
CREATE OR REPLACE FUNCTION drop_old_events(kept_days integer, exhausted_days integer DEFAULT 30, most_days integer DEFAULT 160) RETURNS integer
  LANGUAGE plpgsql SET lock_timeout = '500ms' AS $$
DECLARE
  suffix text;
  month  timestamp;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('posthorn.make_partitions'));
  FOR suffix IN SELECT right(inhrelid::regclass::text, 7) AS s FROM pg_inherits WHERE inhparent = 'events'::regclass ORDER BY s LOOP
    month := to_date(suffix, 'YYYY_MM');
    CONTINUE WHEN (month + interval '1 month') AT TIME ZONE 'UTC' > now() - make_interval(days => kept_days);
    CONTINUE WHEN is_month_needed(month, exhausted_days, most_days);
    LOCK TABLE ONLY events, ONLY webhook_deliveries, ONLY webhook_attempts IN ACCESS EXCLUSIVE MODE;
    -- Each statement here sees what was committed before it.
    CONTINUE WHEN is_month_due(month);
    EXECUTE format('DROP TABLE %I, %I, %I', 'webhook_attempts_' || suffix, 'webhook_deliveries_' || suffix, 'events_' || suffix);
    RETURN 3;
  END LOOP;
  RETURN 0;
END
$$;
