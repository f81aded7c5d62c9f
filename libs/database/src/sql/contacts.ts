import { recordEventsWith } from './events.ts';

/**
 * Makes the contacts that are missing and locks those that are there, which it leaves as they are (`WHERE false` locks and
 * writes nothing). An address that comes twice, in whatever case, is made of what came first.
 *
 * $1 json: n, id, workspace_id, email, properties. $2 timestamptz: now.
 *
 * Index: contacts_workspace_email_key. Locks: the contacts in the order of workspace and address, so that two groups over the
 * same ones never wait for each other in a ring. An address is folded by the database alone, which knows its own `lower`.
 */
export const LOCK_CONTACTS = `
INSERT INTO contacts AS c (id, workspace_id, email, properties, created_at, updated_at)
SELECT   DISTINCT ON (workspace_id, lower(email)) id, workspace_id, email, properties, $2::timestamptz, $2::timestamptz
FROM     json_to_recordset($1::json) AS i (n int, id uuid, workspace_id uuid, email text, properties jsonb)
ORDER BY workspace_id, lower(email), n
ON CONFLICT (workspace_id, lower(email)) DO UPDATE SET updated_at = c.updated_at WHERE false`;

/**
 * The contacts that LOCK_CONTACTS has locked, as they are by now, each with the numbers of its items. A statement of its own: that
 * one sees a contact as it was before it waited.
 *
 * $1 json: n, workspace_id, email. Index: contacts_workspace_email_key. Locks: none.
 */
export const READ_LOCKED_CONTACTS = `
SELECT   array_agg(i.n ORDER BY i.n) AS numbers,
         c.id, c.workspace_id AS "workspaceId", c.email, c.properties::text AS properties, c.status,
         c.unsubscribed_at AS "unsubscribedAt", c.created_at AS "createdAt", c.updated_at AS "updatedAt"
FROM     json_to_recordset($1::json) AS i (n int, workspace_id uuid, email text)
JOIN     contacts c ON c.workspace_id = i.workspace_id AND lower(c.email) = lower(i.email)
GROUP BY c.id`;

/**
 * Writes what locked contacts have become, and the events of that.
 *
 * $1 json: the events, as RECORD_EVENTS takes them. $2 json: id, properties, updated_at.
 *
 * Indexes: contacts_pkey; those of RECORD_EVENTS. Locks: none that LOCK_CONTACTS has not taken.
 */
export const WRITE_CONTACT_PROPERTIES = recordEventsWith(`written AS (
  UPDATE contacts c
  SET    properties = i.properties, updated_at = i.updated_at
  FROM   json_to_recordset($2::json) AS i (id uuid, properties jsonb, updated_at timestamptz)
  WHERE  c.id = i.id
)`);
