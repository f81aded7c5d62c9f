import type { ContactId, WorkspaceId } from '@posthorn/kernel';
import type { ContactStatus, PageRequest } from '@posthorn/domain';
import { hasOptedOut } from './erased-recipients.ts';
import { recordEventsWith } from './events.ts';
import { pageOfPersons } from './page-of-persons.ts';
import type { Statement } from './statement.ts';

/**
 * Inserts missing contacts, and locks existing ones without changing them (`DO UPDATE … WHERE false` locks a row and writes nothing). Of items with the same
 * address, ignoring case, the first counts.
 *
 * $1 json: n, id, workspace_id, email, properties. $2 timestamptz: now.
 *
 * Index: contacts_workspace_email_key. Locks: the contacts, in the order of workspace and address, so that two groups never deadlock. Addresses are
 * case-folded only by the database's own `lower`.
 */
export const LOCK_CONTACTS = `
INSERT INTO contacts AS c (id, workspace_id, email, properties, created_at, updated_at)
SELECT   DISTINCT ON (workspace_id, lower(email)) id, workspace_id, email, properties, $2::timestamptz, $2::timestamptz
FROM     json_to_recordset($1::json) AS i (n int, id uuid, workspace_id uuid, email text, properties json)
ORDER BY workspace_id, lower(email), n
ON CONFLICT (workspace_id, lower(email)) DO UPDATE SET updated_at = c.updated_at WHERE false`;

/** The columns of `ContactRow`; properties as text, so that the driver does not parse them. */
const CONTACT_COLUMNS = `
         c.id, c.workspace_id AS "workspaceId", c.email, c.properties::text AS properties, c.status,
         c.unsubscribed_at AS "unsubscribedAt", c.created_at AS "createdAt", c.updated_at AS "updatedAt"`;

/**
 * Reads the contacts that LOCK_CONTACTS has locked, each with the numbers of its items, whether it was inserted, and whether its person had unsubscribed before
 * an earlier contact was deleted or erased. A separate statement, because the snapshot of LOCK_CONTACTS is older than its locks.
 *
 * $1 json: n, id, workspace_id, email. Indexes: contacts_workspace_email_key, by nested loops (see `claimCtes` for OFFSET 0); erased_recipients_pkey for
 * contacts that were inserted. Locks: none.
 */
export const READ_LOCKED_CONTACTS = `
SELECT i.numbers, c.id = ANY (i.ids) AS "isNew",
       CASE WHEN c.id = ANY (i.ids) THEN ${hasOptedOut('c.workspace_id', 'c.email')} ELSE false END AS "hasOptedOut",${CONTACT_COLUMNS}
FROM   (
  SELECT   workspace_id, lower(email) AS address, array_agg(n ORDER BY n) AS numbers, array_agg(id) AS ids
  FROM     json_to_recordset($1::json) AS i (n int, id uuid, workspace_id uuid, email text)
  GROUP BY 1, 2
) i
CROSS JOIN LATERAL (SELECT * FROM contacts WHERE workspace_id = i.workspace_id AND lower(email) = i.address OFFSET 0) c`;

/** A contact of a workspace. $1 uuid: the contact. $2 uuid: the workspace. Index: contacts_pkey or contacts_by_workspace_idx. Locks: none. */
export const READ_CONTACT = `
SELECT   ${CONTACT_COLUMNS}
FROM     contacts c
WHERE    c.id = $1::uuid AND c.workspace_id = $2::uuid`;

/** The same with a lock until the end of the transaction. Locks: the contact. */
export const LOCK_CONTACT = `${READ_CONTACT}
FOR NO KEY UPDATE`;

/** Filters for a list of contacts. */
export interface ContactFilter {
  /** The address, in whatever case. */
  readonly email?: string | undefined;
  readonly status?: ContactStatus | undefined;
}

/**
 * A page of a workspace's contacts.
 *
 * Index: contacts_workspace_email_key with an email, else contacts_by_status_idx with a status, else contacts_by_workspace_idx; the last two
 * are read in their order (see {@link pageOfPersons}). Locks: none.
 */
export function listContacts(
  workspaceId: WorkspaceId,
  page: PageRequest<ContactId>,
  { email, status }: ContactFilter,
): Statement {
  const by = { column: 'status', type: 'contact_status', value: status };
  return pageOfPersons(`SELECT ${CONTACT_COLUMNS}\nFROM     contacts c`, workspaceId, { email, by }, page);
}

/**
 * Writes changes of locked contacts, and their events.
 *
 * $1 json: the events, as RECORD_EVENTS takes them. $2 json: id, properties, status, unsubscribed_at, updated_at.
 *
 * Indexes: contacts_pkey; those of RECORD_EVENTS. Locks: only contacts that are locked already.
 */
export const WRITE_CONTACTS = recordEventsWith(`written AS (
  UPDATE contacts c
  SET    properties = i.properties, status = i.status, unsubscribed_at = i.unsubscribed_at, updated_at = i.updated_at
  FROM   json_to_recordset($2::json) AS i (
           id uuid, properties json, status contact_status, unsubscribed_at timestamptz, updated_at timestamptz)
  WHERE  c.id = i.id
)`);

/**
 * Deletes a locked contact, remembers by a hash of the address that the person had unsubscribed, and records the event.
 *
 * $1 json: the event, as RECORD_EVENTS takes it. $2 uuid. Indexes: contacts_pkey, erased_recipients_pkey; those of RECORD_EVENTS. Locks: the contact, then
 * what is remembered of the address.
 */
export const DELETE_CONTACT = recordEventsWith(`deleted AS (
  DELETE FROM contacts c WHERE c.id = $2::uuid
  RETURNING workspace_id, email, status
),
remembered AS (
  INSERT INTO erased_recipients (workspace_id, address_hash, is_unsubscribed)
  SELECT workspace_id, erased_hash(workspace_id, email), true FROM deleted WHERE status = 'UNSUBSCRIBED'
  ON CONFLICT (workspace_id, address_hash) DO UPDATE SET is_unsubscribed = true
)`);

/** Forgets that a person had unsubscribed before their contact was deleted or erased. $1 uuid: the workspace. $2 text: the address. Index: erased_recipients_pkey. Locks: the row. */
export const FORGET_OPT_OUT = `
UPDATE erased_recipients SET is_unsubscribed = false
WHERE  workspace_id = $1::uuid AND address_hash = erased_hash($1::uuid, $2::text)`;
