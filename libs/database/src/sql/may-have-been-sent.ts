/**
 * Whether the email of an outbox row that no process works on may have been sent already: its last claim was never answered, or it was marked as doubtful (it
 * still has a lease); or it was due before a backup was restored. Of several restores without a resumption, the first counts. Index: event_eras_pkey. Locks: none.
 */
export function mayHaveBeenSent(row: string): string {
  return `(${row}.lease_until IS NOT NULL
          OR ${row}.due_at < coalesce((SELECT min(r.began_at) FROM event_eras r WHERE r.released_at IS NULL), '-infinity'))`;
}
