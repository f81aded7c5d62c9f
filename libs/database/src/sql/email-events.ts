/**
 * A column for a statement that writes what has become of emails: it records the events of that where some webhook is subscribed to them, and gives
 * the lanes in which these are then due; null: none. See the function in the migration for its indexes and locks.
 *
 * @param cause the part that has what became of emails: id, workspace_id, event, status (what the email's is then; null: as it was), detail
 *   (what the timeline says of it; null: nothing)
 */
export function emailEvents(cause: string): string {
  return `(SELECT record_email_events(array_agg(c.id), array_agg(c.workspace_id), array_agg(c.event), array_agg(c.status), array_agg(c.detail))
        FROM   ${cause} c) AS "eventLanes"`;
}
