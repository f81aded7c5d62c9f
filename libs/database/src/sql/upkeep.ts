/** Deletes idempotency keys that have expired. $1 int: at most so many. Index: idempotency_keys_by_expiry_idx, from its front. Locks: the keys, skipping those that somebody takes or deletes just now. */
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
 * Deletes invitations, and their mails, whose last link ended so many days ago or earlier, whatever became of them. $1 int: days.
 * $2 int: at most so many. Indexes: invitations_by_expiry_idx, from its front; invitation_mails_by_invitation_idx.
 * Locks: the invitations, skipping those that somebody changes just now, and their mails.
 */
export const EXPIRE_INVITATIONS = `
WITH expired AS (
  SELECT   id FROM invitations
  WHERE    expires_at <= now() - make_interval(days => $1::int)
  ORDER BY expires_at
  LIMIT    $2::int
  FOR UPDATE SKIP LOCKED
)
DELETE FROM invitations i USING expired e WHERE i.id = e.id`;

/** Deletes links that verified an address. $1 int: created so many seconds ago or earlier. $2 int: at most so many. Index: verification_links_by_age_idx, from its front. Locks: the links, skipping those that somebody uses just now. */
export const EXPIRE_VERIFICATION_LINKS = `
WITH expired AS (
  SELECT   id FROM verification_links
  WHERE    created_at <= now() - make_interval(secs => $1::int)
  ORDER BY created_at
  LIMIT    $2::int
  FOR UPDATE SKIP LOCKED
)
DELETE FROM verification_links l USING expired e WHERE l.id = e.id`;
