/** Deletes idempotency keys that have expired. $1 int: at most so many. Index: idempotency_keys_by_expiry_idx, from its front. */
export const EXPIRE_IDEMPOTENCY_KEYS = `
WITH expired AS (
  SELECT   workspace_id, key FROM idempotency_keys
  WHERE    expires_at <= now()
  ORDER BY expires_at
  LIMIT    $1::int
  FOR UPDATE SKIP LOCKED
)
DELETE FROM idempotency_keys k USING expired e WHERE k.workspace_id = e.workspace_id AND k.key = e.key`;
