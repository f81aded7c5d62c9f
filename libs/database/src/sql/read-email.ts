import { EMAIL_SUMMARY_COLUMNS } from './email-list.ts';

/**
 * Reads an email with its timeline, its engagement and its next attempt in one statement, so that all of it is as of one moment and takes one round trip.
 * $1 uuid: the email. $2 uuid: its workspace. $3 int: how many entries of the timeline at most: the newest ones, the oldest of them first. Indexes:
 * emails_pkey, email_events_pkey, email_engagements_pkey, outbox_pkey. Locks: none.
 */
export const READ_EMAIL = `
SELECT ${EMAIL_SUMMARY_COLUMNS}, e.track_clicks AS "trackClicks", e.track_opens AS "trackOpens",
       (SELECT to_json(n)
        FROM  (SELECT opens, clicks, machine_opens AS "machineOpens", machine_clicks AS "machineClicks", opened_at AS "openedAt", clicked_at AS "clickedAt"
               FROM   email_engagements
               WHERE  email_id = $1::uuid) n) AS engagement,
       (SELECT coalesce(json_agg(f ORDER BY f.at, f.id), '[]')
        FROM  (SELECT   id, kind, at, late, duplicate_possible AS "duplicatePossible", report, detail
               FROM     email_events
               WHERE    email_id = $1::uuid
               ORDER BY at DESC, id DESC
               LIMIT    $3::int) f) AS timeline,
       (SELECT due_at FROM outbox WHERE subject_id = $1::uuid AND state = 'waiting') AS "nextAttemptAt"
FROM   emails e
WHERE  e.id = $1::uuid AND e.workspace_id = $2::uuid`;
