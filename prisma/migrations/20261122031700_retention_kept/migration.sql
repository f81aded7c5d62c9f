-- For how many days what a workspace sends is kept; null: as the installation's settings say.
ALTER TABLE workspaces
  ADD COLUMN content_days  integer CHECK (content_days BETWEEN 0 AND 365),
  ADD COLUMN metadata_days integer CHECK (metadata_days BETWEEN 1 AND 3650),
  ADD COLUMN event_days    integer CHECK (event_days BETWEEN 1 AND 365);

CREATE TYPE retention_subject AS ENUM ('content', 'metadata', 'events');

-- How far a workspace has been looked through for what is past its time. Whoever looks has the row until the transaction ends.
CREATE TABLE retention_rounds (
  workspace_id   uuid              NOT NULL REFERENCES workspaces (id),
  subject        retention_subject NOT NULL,
  -- What comes after these is looked at next; era and xid are of the feed's order, for events alone.
  seen_era       integer           NOT NULL DEFAULT 0,
  seen_xid       xid8              NOT NULL DEFAULT '0',
  seen_to        uuid              NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  next_at        timestamptz       NOT NULL DEFAULT now(),
  -- When a round begins at the front again, for what was not finished when it was passed.
  full_at        timestamptz       NOT NULL DEFAULT now(),
  -- Something from before this moment may have been removed.
  removed_before timestamptz,
  PRIMARY KEY (workspace_id, subject)
);
CREATE INDEX retention_rounds_by_time_idx ON retention_rounds (next_at);

-- Drops the oldest month of emails that ended so many days ago or earlier and that nothing due was made in, or else only what they said, where
-- that is kept for a shorter time. Says how many tables there were; 0: there is nothing to drop. One month at a time, so that whoever reads or writes
-- emails waits for one DROP at most; and whoever waits for them longer than half a second gives up and comes again, before anybody is a deadlock's victim.
CREATE FUNCTION drop_old_emails(metadata_days integer, content_days integer) RETURNS integer
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
    CONTINUE WHEN is_month_due(month);
    IF ended > now() - make_interval(days => metadata_days) THEN
      LOCK TABLE ONLY email_contents IN ACCESS EXCLUSIVE MODE;
      CONTINUE WHEN is_month_due(month);
      EXECUTE format('DROP TABLE %I', 'email_contents_' || suffix);
      RETURN 1;
    END IF;
    LOCK TABLE ONLY emails, ONLY email_contents, ONLY email_events, ONLY email_engagements IN ACCESS EXCLUSIVE MODE;
    -- Each statement here sees what was committed before it.
    CONTINUE WHEN is_month_due(month);
    EXECUTE format('DROP TABLE IF EXISTS %I', 'email_contents_' || suffix);
    EXECUTE format('DROP TABLE %I, %I, %I', 'email_engagements_' || suffix, 'email_events_' || suffix, 'emails_' || suffix);
    RETURN 4;
  END LOOP;
  RETURN 0;
END
$$;

-- Whether something that is due was made in a month, given its first moment in UTC. Index: outbox_pkey.
CREATE FUNCTION is_month_due(month timestamp) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM outbox
    WHERE  subject_id >= uuid_v7_floor(month AT TIME ZONE 'UTC')
    AND    subject_id < uuid_v7_floor((month + interval '1 month') AT TIME ZONE 'UTC'));
END
$$;

-- Whether no event of a workspace from this moment on was removed before the month was dropped. An hour is allowed for, as are_events_kept does with a day.
CREATE FUNCTION are_own_events_kept(workspace uuid, since timestamptz) RETURNS boolean LANGUAGE sql STABLE STRICT RETURN
  NOT EXISTS (
    SELECT FROM retention_rounds r
    WHERE  r.workspace_id = workspace AND r.subject = 'events' AND r.removed_before > since - interval '1 hour');
