/**
 * The emails that were accepted in the last hour, by minute. $1 int: at most so many are looked at, the newest first.
 * Index: the primary key of emails, from its end.
 */
export const EMAILS_BY_MINUTE = `
SELECT   date_trunc('minute', e.accepted_at) AS minute,
         count(*)::int AS accepted,
         (count(*) FILTER (WHERE e.status IN ('BOUNCED', 'FAILED')))::int AS failed
FROM     (SELECT accepted_at, status FROM emails
          WHERE  id >= uuid_v7_floor(now() - interval '1 hour')
          ORDER  BY id DESC
          LIMIT  $1::int) e
GROUP BY 1
ORDER BY 1`;

/** Receivers that let us wait, webhooks with nothing but failures of late, and whose database it is. */
export const STATE_OF_THINGS = `
SELECT (SELECT count(*)::int FROM slow_lanes) AS "slowLanes",
       (SELECT count(*)::int FROM webhooks WHERE failing_since IS NOT NULL) AS "failingWebhooks",
       current_setting('server_version') AS "postgresVersion"`;
