/**
 * The workspaces that have used the highest shares of their monthly limits in the current month (UTC), the highest first; none without a limit. The limit is the
 * workspace's own, else the installation's by which its last emails were judged: only those who accept know that setting.
 *
 * $1 int: maximum number.
 *
 * Index: usage_pkey, which is read from end to end: it has one entry for each workspace and month. Locks: none.
 */
export const HIGHEST_USAGE = `
SELECT   u.workspace_id AS "workspaceId", u.accepted AS used, l.monthly_limit AS "limit"
FROM     usage u
JOIN     workspaces w ON w.id = u.workspace_id
CROSS JOIN LATERAL (SELECT coalesce(w.monthly_email_limit, u.monthly_limit) AS monthly_limit) l
WHERE    u.month = date_trunc('month', now() AT TIME ZONE 'UTC')::date AND l.monthly_limit > 0
ORDER BY u.accepted::float8 / l.monthly_limit DESC, u.workspace_id
LIMIT    $1::int`;
