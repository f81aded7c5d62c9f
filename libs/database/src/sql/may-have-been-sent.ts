/**
 * Whether the email of an outbox row that no process works on may have been sent already: its last claim was never answered, or it was marked as doubtful (it
 * still has a lease); or it was due before a backup was restored. Index: event_eras_pkey. Locks: none.
 */
export function mayHaveBeenSent(row: string): string {
  return `(${row}.lease_until IS NOT NULL
          OR EXISTS (SELECT FROM event_eras r WHERE r.released_at IS NULL AND r.began_at > ${row}.due_at))`;
}
