/** Deletes expired idempotency keys. $1 int: maximum number. Index: idempotency_keys_by_expiry_idx, from its front. Locks: the keys, skipping those that somebody else has locked. */
export const EXPIRE_IDEMPOTENCY_KEYS = `
WITH expired AS (
  SELECT   workspace_id, key FROM idempotency_keys
  WHERE    expires_at <= now()
  ORDER BY expires_at
  LIMIT    $1::int
  FOR UPDATE SKIP LOCKED
)
DELETE FROM idempotency_keys k USING expired e WHERE k.workspace_id = e.workspace_id AND k.key = e.key`;

/**
 * Deletes invitations (and, by cascade, their mails) that expired $1 interval ago, whatever became of them. $2 int: maximum number.
 * Indexes: invitations_by_expiry_idx, from its front; invitation_mails_by_invitation_idx. Locks: the invitations, skipping those that somebody else has locked,
 * and their mails.
 */
export const EXPIRE_INVITATIONS = deleteOld('invitations', 'expires_at');

/** Deletes verification links of $1 interval ago. $2 int: maximum number. Index: verification_links_by_age_idx, from its front. Locks: as above. */
export const EXPIRE_VERIFICATION_LINKS = deleteOld('verification_links', 'created_at');

function deleteOld(table: string, time: string): string {
  return `
WITH old AS (
  SELECT   id FROM ${table}
  WHERE    ${time} <= now() - $1::interval
  ORDER BY ${time}
  LIMIT    $2::int
  FOR UPDATE SKIP LOCKED
)
DELETE FROM ${table} t USING old WHERE t.id = old.id`;
}
