/**
 * Why the last attempt of an email failed: a `FailureClass`; NULL: none has failed. An answer that came too late to change anything does not count. Index: email_events_pkey. Locks: none.
 *
 * @param emailId an SQL expression
 */
export function failureClassOf(emailId: string): string {
  return `(
    SELECT   coalesce(t.detail ->> 'class', CASE WHEN t.detail ? 'reason' THEN 'other' ELSE 'no_reply' END)
    FROM     email_events t
    WHERE    t.email_id = ${emailId} AND t.kind IN ('DELAYED', 'REPLY_LOST', 'BOUNCED', 'FAILED') AND NOT t.late
    ORDER BY t.at DESC
    LIMIT    1
  )`;
}
