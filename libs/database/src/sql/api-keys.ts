/**
 * Finds keys by the SHA-256 of their secrets, with the rate limits of their workspaces. $1 bytea[]. The array is wrapped in a sub-select so that Postgres
 * uses a generic plan; otherwise it would plan short arrays anew each time. Indexes: api_keys_secret_hash_key, workspaces_pkey.
 */
export const FIND_KEY_HOLDERS = `
SELECT k.secret_hash AS "secretHash", k.id, k.workspace_id AS "workspaceId", k.role, k.display_name AS "displayName",
       w.rate_per_second AS "ratePerSecond", w.rate_burst AS "rateBurst"
FROM   api_keys k
JOIN   workspaces w ON w.id = k.workspace_id
WHERE  k.secret_hash = ANY((SELECT $1::bytea[])::bytea[])`;

/**
 * Records when keys were last used: periodically, in one statement for all keys of a process. $1 json: id, at. Index: api_keys_pkey.
 * Locks: the keys, in the order of their ids, because several gateways update the same keys.
 */
export const NOTE_KEY_USES = `
WITH used AS (
  SELECT   k.id, u.at
  FROM     json_to_recordset($1::json) AS u (id uuid, at timestamptz)
  JOIN     api_keys k ON k.id = u.id
  WHERE    k.last_used_at IS NULL OR k.last_used_at < u.at
  ORDER BY k.id
  FOR NO KEY UPDATE OF k
)
UPDATE api_keys k SET last_used_at = used.at FROM used WHERE k.id = used.id`;
