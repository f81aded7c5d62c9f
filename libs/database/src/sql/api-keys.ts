/** The holders of keys, by the SHA-256 of their secrets. $1 bytea[]. Index: api_keys_secret_hash_key. */
export const FIND_KEY_HOLDERS = `
SELECT secret_hash AS "secretHash", id, workspace_id AS "workspaceId", role
FROM   api_keys
WHERE  secret_hash = ANY($1::bytea[])`;
