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
 * Deletes invitations (and, by cascade, their mails) that expired long ago, whatever became of them. $1 int: how many days ago. $2 int: maximum number.
 * Indexes: invitations_by_expiry_idx, from its front; invitation_mails_by_invitation_idx. Locks: the invitations, skipping those that somebody else has locked,
 * and their mails.
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

/** Deletes old verification links. $1 int: minimum age in seconds. $2 int: maximum number. Index: verification_links_by_age_idx, from its front. Locks: the links, skipping those that somebody else has locked. */
export const EXPIRE_VERIFICATION_LINKS = `
WITH expired AS (
  SELECT   id FROM verification_links
  WHERE    created_at <= now() - make_interval(secs => $1::int)
  ORDER BY created_at
  LIMIT    $2::int
  FOR UPDATE SKIP LOCKED
)
DELETE FROM verification_links l USING expired e WHERE l.id = e.id`;
