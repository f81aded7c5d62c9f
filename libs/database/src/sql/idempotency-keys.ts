/** Takes idempotency keys, including expired ones; `items`, a SELECT, must give distinct ones. */
export function takeKeys(items: string): string {
  return `INSERT INTO idempotency_keys AS k (workspace_id, key, fingerprint, answer, expires_at)
  ${items}
  ORDER BY 1, 2
  ON CONFLICT (workspace_id, key) DO UPDATE
  SET    fingerprint = excluded.fingerprint, answer = excluded.answer, expires_at = excluded.expires_at
  WHERE  k.expires_at <= now()
  RETURNING workspace_id, key`;
}

/**
 * Takes the idempotency keys of calls, including expired ones; returns the numbers of the items that got their key.
 *
 * $1 json: the items; their keys must be distinct.
 *
 * Index: idempotency_keys_pkey. Locks: the keys, in order. For a key that another transaction has just taken this waits until that has ended, and takes the
 * key if it was given back.
 */
export const TAKE_IDEMPOTENCY_KEYS = `
WITH item AS (
  SELECT * FROM json_to_recordset($1::json) AS i (n int, workspace_id uuid, key text, fingerprint text, answer text, expires_at timestamptz)
),
taken AS (
  ${takeKeys(`SELECT workspace_id, key, decode(fingerprint, 'hex'), answer, expires_at FROM item`)}
)
SELECT n FROM item JOIN taken USING (workspace_id, key)`;

/** Reads the answers of keys that could not be taken. $1 json: n, workspace_id, key. Index: idempotency_keys_pkey. */
export const READ_IDEMPOTENCY_KEYS = `
SELECT i.n, k.fingerprint, k.answer
FROM   json_to_recordset($1::json) AS i (n int, workspace_id uuid, key text)
JOIN   idempotency_keys k USING (workspace_id, key)
WHERE  k.expires_at > now()`;

/**
 * The same for a single key, outside of a transaction that takes keys. The row lock is there for durability: after a crash, a primary shows rows that the
 * synchronous standby may not have yet, and that a failover would lose. A plain SELECT would return them at once; locking a row writes WAL, so that the
 * COMMIT waits for the standby. Locks: the key, which conflicts only with taking it over and giving it back.
 */
export const FIND_ANSWER = `${READ_IDEMPOTENCY_KEYS} FOR KEY SHARE OF k`;

/** Stores the answers of calls under the keys that they have taken. $1 json. Index: idempotency_keys_pkey. Locks: only keys that are locked already. */
export const ANSWER_IDEMPOTENCY_KEYS = `
UPDATE idempotency_keys k SET answer = i.answer
FROM   json_to_recordset($1::json) AS i (workspace_id uuid, key text, answer text)
WHERE  k.workspace_id = i.workspace_id AND k.key = i.key`;

/** Gives back the keys of refused calls: a refusal does not use up a key. Index: idempotency_keys_pkey. Locks: only keys that are locked already. */
export const GIVE_BACK_IDEMPOTENCY_KEYS = `
DELETE FROM idempotency_keys k
USING  json_to_recordset($1::json) AS i (workspace_id uuid, key text)
WHERE  k.workspace_id = i.workspace_id AND k.key = i.key`;
