/**
 * Counts a workspace's emails by the day of their acceptance (UTC) and the status that they have now.
 *
 * $1 uuid: the workspace. $2 date: the first day. $3 date: the last day. $4 text: the group (null: all emails).
 *
 * Index-only scans of emails_by_workspace_idx or emails_by_group_idx, which have the day in the key and include the status. The cost grows with the emails
 * counted. Locks: none.
 */
export function countEmailsByDay(isOfGroup: boolean): string {
  return `
SELECT to_char(d.day, 'YYYY-MM-DD') AS day, c.status, c.count
FROM   generate_series($2::date::timestamp, $3::date::timestamp, interval '1 day') d (day)
CROSS JOIN LATERAL (
  SELECT   status, count(*)::int AS count
  FROM     emails
  WHERE    ${ofDay('id', isOfGroup)}
  GROUP BY status
) c`;
}

/**
 * Counts a workspace's emails that were opened by a person, and those with a link clicked by a person, by the day of their acceptance (UTC).
 *
 * Parameters as {@link countEmailsByDay}. Index-only scans of email_engagements_by_workspace_idx or email_engagements_by_group_idx. The cost grows with the
 * emails that were opened or clicked by people or programs. Locks: none.
 */
export function countEngagementsByDay(isOfGroup: boolean): string {
  return `
SELECT to_char(d.day, 'YYYY-MM-DD') AS day, c.opened, c.clicked
FROM   generate_series($2::date::timestamp, $3::date::timestamp, interval '1 day') d (day)
CROSS JOIN LATERAL (
  SELECT count(opened_at)::int AS opened, count(clicked_at)::int AS clicked
  FROM   email_engagements
  WHERE  ${ofDay('email_id', isOfGroup)}
) c
WHERE  c.opened > 0 OR c.clicked > 0`;
}

/** The condition for emails, with their id in the column `id`, to be counted on the day `d.day`. */
function ofDay(id: string, isOfGroup: boolean): string {
  return `workspace_id = $1::uuid
  AND    ${isOfGroup ? 'group_by = $4::text' : '$4::text IS NULL'}
  AND    ${id} >= uuid_v7_floor($2::date::timestamp AT TIME ZONE 'UTC')
  AND    ${id} <  uuid_v7_floor(($3::date + 1)::timestamp AT TIME ZONE 'UTC')
  AND    ${id} >= uuid_v7_floor(d.day AT TIME ZONE 'UTC')
  AND    ${id} <  uuid_v7_floor((d.day + interval '1 day') AT TIME ZONE 'UTC')`;
}
