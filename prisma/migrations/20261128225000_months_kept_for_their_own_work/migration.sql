-- A month of events is kept for what is due of its events and deliveries, and one of emails for its emails; before, both for either. An email that is
-- moved again and again, or is paused for months, kept the events of everybody in the month in which it was accepted.

-- Whether emails that were accepted in a month are due, given its first moment in UTC, or else events and deliveries of it. Index: outbox_pkey.
CREATE FUNCTION is_month_due(month timestamp, are_emails boolean) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM outbox
    WHERE  subject_id >= uuid_v7_floor(month AT TIME ZONE 'UTC')
    AND    subject_id < uuid_v7_floor((month + interval '1 month') AT TIME ZONE 'UTC')
    AND    (queue = 'email') = are_emails);
END
$$;

CREATE OR REPLACE FUNCTION is_month_needed(month timestamp, exhausted_days integer, most_days integer) RETURNS boolean
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  ended timestamptz := (month + interval '1 month') AT TIME ZONE 'UTC';
BEGIN
  IF is_month_due(month, false) THEN RETURN true; END IF;
  RETURN ended > now() - make_interval(days => most_days) AND EXISTS (
    SELECT FROM webhook_deliveries
    WHERE  id >= uuid_v7_floor(month AT TIME ZONE 'UTC') AND id < uuid_v7_floor(ended)
    AND    is_exhausted AND finished_at > now() - make_interval(days => exhausted_days));
END
$$;

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
    CONTINUE WHEN is_month_due(month, false);
    EXECUTE format('DROP TABLE %I, %I, %I', 'webhook_attempts_' || suffix, 'webhook_deliveries_' || suffix, 'events_' || suffix);
    RETURN 3;
  END LOOP;
  RETURN 0;
END
$$;

CREATE OR REPLACE FUNCTION drop_old_emails(metadata_days integer, content_days integer) RETURNS integer
  LANGUAGE plpgsql SET lock_timeout = '500ms' AS $$
DECLARE
  suffix text;
  month  timestamp;
  ended  timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('posthorn.make_partitions'));
  FOR suffix IN SELECT right(inhrelid::regclass::text, 7) AS s FROM pg_inherits WHERE inhparent = 'emails'::regclass ORDER BY s LOOP
    month := to_date(suffix, 'YYYY_MM');
    ended := (month + interval '1 month') AT TIME ZONE 'UTC';
    CONTINUE WHEN ended > now() - make_interval(days => least(content_days, metadata_days));
    CONTINUE WHEN ended > now() - make_interval(days => metadata_days) AND to_regclass('email_contents_' || suffix) IS NULL;
    CONTINUE WHEN is_month_due(month, true);
    IF ended > now() - make_interval(days => metadata_days) THEN
      LOCK TABLE ONLY email_contents IN ACCESS EXCLUSIVE MODE;
      CONTINUE WHEN is_month_due(month, true);
      EXECUTE format('DROP TABLE %I', 'email_contents_' || suffix);
      RETURN 1;
    END IF;
    LOCK TABLE ONLY emails, ONLY email_contents, ONLY email_events, ONLY email_engagements IN ACCESS EXCLUSIVE MODE;
    -- Each statement here sees what was committed before it.
    CONTINUE WHEN is_month_due(month, true);
    EXECUTE format('DROP TABLE IF EXISTS %I', 'email_contents_' || suffix);
    EXECUTE format('DROP TABLE %I, %I, %I', 'email_engagements_' || suffix, 'email_events_' || suffix, 'emails_' || suffix);
    RETURN 4;
  END LOOP;
  RETURN 0;
END
$$;

DROP FUNCTION is_month_due(timestamp);
