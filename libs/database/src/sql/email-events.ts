/**
 * A column for a statement that changes emails: records the events of these changes that some webhook is subscribed to, or whose workspace has all recorded, and
 * returns the lanes in which webhooks are to be told of them (null: none). See the SQL function in the migration for its indexes and locks.
 *
 * @param cause the CTE with the changes: id, workspace_id, event, status (the new status of the email; null: unchanged), detail (as in the timeline; null:
 *   none)
 */
export function recordEmailEvents(cause: string): string {
  return `(SELECT record_email_events(array_agg(c.id), array_agg(c.workspace_id), array_agg(c.event), array_agg(c.status), array_agg(c.detail))
        FROM   ${cause} c) AS "eventLanes"`;
}
