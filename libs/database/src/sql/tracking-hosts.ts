/** The name of the host of a workspace's tracking URL, as the index has it: without port and without the dot of the root. */
const hostName = (workspace: string): string =>
  `regexp_replace(${workspace}.tracking_url, '^https?://|[.]?(:[0-9]+)?$', '', 'g')`;

/**
 * Whether links may redirect at the hosts at which they were followed: hosts that are no workspace's own, or that of the workspace of the email. One row for each
 * link, in their order.
 *
 * $1 text[]: host names. $2 uuid[]: emails. Indexes: workspaces_by_tracking_host_idx, emails_pkey, workspaces_pkey. Locks: none.
 */
export const ADMIT_LINKS = `
SELECT NOT EXISTS (SELECT FROM workspaces w WHERE ${hostName('w')} = l.host)
       OR EXISTS (
         SELECT
         FROM   emails e
         JOIN   workspaces w ON w.id = e.workspace_id
         WHERE  e.id = l.email_id AND ${hostName('w')} = l.host
       ) AS "isAdmitted"
FROM   unnest($1::text[], $2::uuid[]) WITH ORDINALITY AS l (host, email_id, place)
ORDER BY l.place`;
