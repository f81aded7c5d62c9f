import { MAX_MOVES } from '@posthorn/domain';
import { mayHaveBeenSent } from './may-have-been-sent.ts';
import { MONTH_OF_ACCEPTANCE } from './month.ts';

/**
 * Cancels a scheduled email that was never claimed, and decrements the monthly usage, once. Returns its id; no row if it was not cancelled. One that may have
 * been sent before a backup was restored says so in its timeline.
 *
 * $1 uuid: the email. $2 uuid: its workspace.
 *
 * Indexes: emails_pkey, usage_pkey, outbox_pkey. Locks: the usage row, then the outbox row, then the email; none if it is not SCHEDULED at first. A claim
 * locks the outbox row before the email; if this has to wait for a claim, it then finds the row `taken` or gone, or the email no longer SCHEDULED (READ
 * COMMITTED re-evaluates rows after waiting).
 */
export const CANCEL_EMAIL = `
WITH asked AS MATERIALIZED (
  SELECT id, workspace_id, ${MONTH_OF_ACCEPTANCE} AS month
  FROM   emails
  WHERE  id = $1::uuid AND workspace_id = $2::uuid AND status = 'SCHEDULED'
),
counted AS MATERIALIZED (
  SELECT u.workspace_id, u.month
  FROM   asked a
  JOIN   usage u ON u.workspace_id = a.workspace_id AND u.month = a.month
  FOR NO KEY UPDATE OF u
),
held AS MATERIALIZED (
  SELECT o.subject_id, ${mayHaveBeenSent('o')} AS is_doubtful
  FROM   asked a
  CROSS JOIN (SELECT count(*) FROM counted) before_it
  JOIN   outbox o ON o.subject_id = a.id
  WHERE  o.state <> 'taken'
  FOR UPDATE OF o
),
cancelled AS (
  UPDATE emails e SET status = 'CANCELLED'
  FROM   held h
  WHERE  e.id = h.subject_id AND e.id = $1::uuid AND e.status = 'SCHEDULED'
  RETURNING e.id, h.is_doubtful
),
finished AS (
  DELETE FROM outbox o USING cancelled c WHERE o.subject_id = c.id
),
given_back AS (
  UPDATE usage u SET accepted = u.accepted - 1
  FROM   counted k, cancelled
  WHERE  u.workspace_id = k.workspace_id AND u.month = k.month AND u.accepted > 0
),
told AS (
  INSERT INTO email_events (email_id, kind, duplicate_possible) SELECT id, 'CANCELLED', is_doubtful FROM cancelled
)
SELECT id FROM cancelled`;

/**
 * Moves a scheduled email that was never claimed to another time, and extends its idempotency keys accordingly. Returns its lane and whether it is due at
 * once; no row if it was not moved, also because it was moved too often: until it is claimed, its claims count that. One that may have been sent before a
 * backup was restored says so in its timeline, or is marked, so that its claim does.
 *
 * $1 uuid: the email. $2 uuid: its workspace. $3 timestamptz: the new time (null or past: now). $4 interval: how long after it the keys are kept.
 *
 * Indexes: emails_pkey, idempotency_keys_pkey, outbox_pkey. Locks: the keys in order, then the outbox row, then the email, as
 * CANCEL_EMAIL does.
 */
export const RESCHEDULE_EMAIL = `
WITH asked AS MATERIALIZED (
  SELECT id, workspace_id, idempotency_keys
  FROM   emails
  WHERE  id = $1::uuid AND workspace_id = $2::uuid AND status = 'SCHEDULED'
),
kept AS MATERIALIZED (
  SELECT   k.workspace_id, k.key
  FROM     asked a
  JOIN     idempotency_keys k ON k.workspace_id = a.workspace_id AND k.key = ANY(a.idempotency_keys)
  ORDER BY k.key
  FOR NO KEY UPDATE OF k
),
held AS MATERIALIZED (
  SELECT o.subject_id, ${mayHaveBeenSent('o')} AS is_doubtful
  FROM   asked a
  CROSS JOIN (SELECT count(*) FROM kept) before_it
  JOIN   outbox o ON o.subject_id = a.id
  WHERE  o.state <> 'taken' AND o.claims < ${MAX_MOVES}
  FOR NO KEY UPDATE OF o
),
moved AS (
  UPDATE emails e SET send_at = greatest($3::timestamptz, date_trunc('milliseconds', now()))
  FROM   held h
  WHERE  e.id = h.subject_id AND e.id = $1::uuid AND e.status = 'SCHEDULED'
  RETURNING e.id, e.send_at, e.send_at <= now() AS is_due, h.is_doubtful
),
waiting AS (
  UPDATE outbox o
  SET    due_at = m.send_at, claims = o.claims + 1,
         state = CASE WHEN m.is_due THEN 'ready' ELSE 'waiting' END::outbox_state,
         -- As MARK_DOUBTFUL does, which does not find it any more by its due time.
         lease_until = CASE WHEN m.is_due AND m.is_doubtful THEN now() END
  FROM   moved m
  WHERE  o.subject_id = m.id
  RETURNING o.lane_id, m.is_due
),
extended AS (
  UPDATE idempotency_keys k SET expires_at = m.send_at + $4::interval
  FROM   kept t, moved m
  WHERE  k.workspace_id = t.workspace_id AND k.key = t.key AND k.expires_at < m.send_at + $4::interval
),
told AS (
  INSERT INTO email_events (email_id, kind, duplicate_possible, detail)
  SELECT id, 'RESCHEDULED', is_doubtful AND NOT is_due,
         jsonb_build_object('sendAt', to_char(send_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  FROM   moved
)
SELECT lane_id AS "laneId", is_due AS "isDue" FROM waiting`;
