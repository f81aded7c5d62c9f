-- Whether the events of a month, and what became of them, may not be dropped yet: something due was made in it, an email even; or a delivery
-- was exhausted so few days ago, after it had been put back late, and the month has not been kept for so many days already.
CREATE FUNCTION is_month_needed(month timestamp, exhausted_days integer, most_days integer) RETURNS boolean
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  ended   timestamptz := (month + interval '1 month') AT TIME ZONE 'UTC';
  first   uuid := uuid_v7_floor(month AT TIME ZONE 'UTC');
  beyond  uuid := uuid_v7_floor(ended);
BEGIN
  IF EXISTS (SELECT FROM outbox WHERE subject_id >= first AND subject_id < beyond) THEN RETURN true; END IF;
  RETURN ended > now() - make_interval(days => most_days) AND EXISTS (
    SELECT FROM webhook_deliveries
    WHERE  id >= first AND id < beyond AND status = 'EXHAUSTED' AND finished_at > now() - make_interval(days => exhausted_days));
END
$$;

DROP FUNCTION drop_old_events(integer);

-- Drops the months of events and of what became of them that ended so many days ago or earlier, but for those that are needed. Says how
-- many tables there were. Who sends a delivery again has seen it in its month until the transaction ends, so a month is looked at again when
-- nobody can: the parents are locked first, as everybody does who gets at a month by them.
CREATE FUNCTION drop_old_events(kept_days integer, exhausted_days integer DEFAULT 30, most_days integer DEFAULT 160) RETURNS integer
  LANGUAGE plpgsql AS $$
DECLARE
  suffix  text;
  month   timestamp;
  dropped integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('posthorn.make_partitions'));
  FOR suffix IN SELECT right(inhrelid::regclass::text, 7) FROM pg_inherits WHERE inhparent = 'events'::regclass LOOP
    month := to_date(suffix, 'YYYY_MM');
    CONTINUE WHEN (month + interval '1 month') AT TIME ZONE 'UTC' > now() - make_interval(days => kept_days);
    CONTINUE WHEN is_month_needed(month, exhausted_days, most_days);
    LOCK TABLE ONLY events, ONLY webhook_deliveries, ONLY webhook_attempts IN ACCESS EXCLUSIVE MODE;
    -- Each statement here sees what was committed before it.
    CONTINUE WHEN EXISTS (
      SELECT FROM outbox
      WHERE  subject_id >= uuid_v7_floor(month AT TIME ZONE 'UTC')
      AND    subject_id < uuid_v7_floor((month + interval '1 month') AT TIME ZONE 'UTC'));
    EXECUTE format('DROP TABLE %I, %I, %I', 'webhook_attempts_' || suffix, 'webhook_deliveries_' || suffix, 'events_' || suffix);
    dropped := dropped + 3;
  END LOOP;
  RETURN dropped;
END
$$;
