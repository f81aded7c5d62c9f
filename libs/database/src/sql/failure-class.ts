/** Of an entry `t` of a timeline. */
const CLASS = `coalesce(t.detail ->> 'class', CASE WHEN t.detail ? 'reason' OR t.report IS NOT NULL THEN 'other' ELSE 'no_reply' END)`;

/**
 * Why the last attempt of an email failed: a `FailureClass`; NULL: none has failed. An answer that came too late to change anything does not count. Index: email_events_pkey. Locks: none.
 *
 * @param emailId an SQL expression
 */
export function failureClassOf(emailId: string): string {
  return lastFailureOf(emailId, CLASS);
}

/** The last failed attempts of emails; those without any are absent. $1 uuid[]: the emails. Index: email_events_pkey. Locks: none. */
export const LAST_FAILURES = `
SELECT e.id, f.class, f.detail
FROM   unnest($1::uuid[]) e (id)
CROSS JOIN LATERAL ${lastFailureOf('e.id', `${CLASS} AS class, t.detail`)} f`;

function lastFailureOf(emailId: string, selected: string): string {
  return `(
    SELECT   ${selected}
    FROM     email_events t
    WHERE    t.email_id = ${emailId} AND t.kind IN ('DELAYED', 'REPLY_LOST', 'BOUNCED', 'FAILED') AND NOT t.late
    ORDER BY t.at DESC
    LIMIT    1
  )`;
}
