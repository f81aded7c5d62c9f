/**
 * The holders of keys, by the SHA-256 of their secrets, with the rates that their workspaces have of their own. $1 bytea[].
 * Indexes: api_keys_secret_hash_key, workspaces_pkey.
 */
export const FIND_KEY_HOLDERS = `
SELECT k.secret_hash AS "secretHash", k.id, k.workspace_id AS "workspaceId", k.role, k.display_name AS "displayName",
       w.rate_per_second AS "ratePerSecond", w.rate_burst AS "rateBurst"
FROM   api_keys k
JOIN   workspaces w ON w.id = k.workspace_id
WHERE  k.secret_hash = ANY($1::bytea[])`;
