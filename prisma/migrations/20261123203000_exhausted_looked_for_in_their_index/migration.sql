-- As before, but the exhausted are looked for in their index (webhook_deliveries_exhausted_idx, which knows them by `is_exhausted`). By their status
-- every delivery of the month was read: of ten million that takes longer than a statement may, so the month was never dropped.
CREATE OR REPLACE FUNCTION is_month_needed(month timestamp, exhausted_days integer, most_days integer) RETURNS boolean
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  ended   timestamptz := (month + interval '1 month') AT TIME ZONE 'UTC';
  first   uuid := uuid_v7_floor(month AT TIME ZONE 'UTC');
  beyond  uuid := uuid_v7_floor(ended);
BEGIN
  IF EXISTS (SELECT FROM outbox WHERE subject_id >= first AND subject_id < beyond) THEN RETURN true; END IF;
  RETURN ended > now() - make_interval(days => most_days) AND EXISTS (
    SELECT FROM webhook_deliveries
    WHERE  id >= first AND id < beyond AND is_exhausted AND finished_at > now() - make_interval(days => exhausted_days));
END
$$;
