import { recordEmailEvents } from './email-events.ts';

/** Whether an email exists. $1 uuid. Index: emails_pkey. Locks: none. */
export const KNOWS_EMAIL = `
SELECT EXISTS (SELECT FROM emails e WHERE e.id = $1::uuid) AS "isKnown"`;

/** Locks the outbox row of an email, before the email itself. $1 uuid. Index: outbox_pkey. Locks: the row. */
export const LOCK_DUE_OF_REPORTED = `
SELECT o.state
FROM   outbox o
WHERE  o.subject_id = $1::uuid
FOR UPDATE`;

/** Reads and locks the email that a report is about. $1 uuid. Index: emails_pkey. Locks: the row. */
export const LOCK_REPORTED = `
SELECT e.workspace_id AS "workspaceId", e.to_address AS recipient, e.status
FROM   emails e
WHERE  e.id = $1::uuid
FOR NO KEY UPDATE`;

/**
 * Records a report and its effects, unless a report of the same kind was recorded before. A new status is final, so the outbox row of the email is deleted.
 *
 * $1 uuid: the email, locked. $2 uuid: its workspace. $3 text: the kind of report. $4 text: the kind of timeline entry. $5 bool: late. $6 jsonb: detail.
 * $7 text: the new status; null: unchanged. $8 text: the event; null: none. $9 text: the reason for suppressing the recipient; null: none.
 * Indexes: email_events_report_key, emails_pkey, outbox_pkey. Locks: the new rows.
 */
export const RECORD_REPORT = `
WITH told AS (
  INSERT INTO email_events (email_id, report, kind, late, detail)
  VALUES ($1::uuid, $3::text::report_kind, $4::text::email_event_kind, $5::boolean, $6::jsonb)
  ON CONFLICT DO NOTHING
  RETURNING email_id AS id, $2::uuid AS workspace_id, $8::text AS event, $7::text::email_status AS status,
            $9::text::suppression_reason AS suppression, detail
),
changed AS (
  UPDATE emails e SET status = t.status FROM told t WHERE e.id = t.id AND t.status IS NOT NULL
),
finished AS (
  DELETE FROM outbox o USING told t WHERE o.subject_id = t.id AND t.status IS NOT NULL
),
cause AS (
  SELECT * FROM told t WHERE t.event IS NOT NULL
)
SELECT (SELECT count(*)::int FROM told) AS recorded, ${recordEmailEvents('cause')},
       (SELECT suppress_recipients(array_agg(t.id), array_agg(t.suppression)) FROM told t WHERE t.suppression IS NOT NULL) AS suppressed`;
