/** The ids of a person's rows in the workspaces asked about, locked in the order of these. */
const lockedRows = (table: string, isOfPerson: string): string => `
    SELECT   r.id FROM ${table} r JOIN asked a ON r.workspace_id = a.id
    WHERE    ${isOfPerson}
    ORDER BY r.workspace_id, r.id
    FOR UPDATE OF r`;

const HAS_ADDRESS = 'lower(r.email) = lower($1::text)';

/**
 * Deletes a person's suppressions, contacts, invitations and verification links, and keeps only a hash of the address if nothing may be sent to it.
 *
 * $1 text: the address. $2 uuid: the workspace; null: all. $3 bool: whether to withhold future emails in any case. $4 bytea: the hash of the address
 * that links have.
 * Indexes: suppressions_workspace_email_key, contacts_workspace_email_key; invitations and links are few. Locks: the rows, of each
 * table in the order of workspaces, so that it deadlocks neither with another erasure nor with LOCK_CONTACTS.
 */
export const FORGET_PERSON = `
WITH asked AS MATERIALIZED (
  SELECT w.id, w.is_system FROM workspaces w WHERE ($2::uuid IS NULL OR w.id = $2::uuid)
),
listed AS (
  DELETE FROM suppressions WHERE id IN (${lockedRows('suppressions', HAS_ADDRESS)})
  RETURNING workspace_id, reason
),
known AS (
  DELETE FROM contacts WHERE id IN (${lockedRows('contacts', HAS_ADDRESS)})
  RETURNING workspace_id, status
),
invited AS (
  DELETE FROM invitations WHERE id IN (${lockedRows('invitations', HAS_ADDRESS)})
  RETURNING workspace_id
),
linked AS (
  DELETE FROM verification_links
  WHERE  id IN (${lockedRows('verification_links', 'r.address_hash = $4::bytea')})
  RETURNING workspace_id
),
withheld AS (
  SELECT workspace_id, reason, false AS is_unsubscribed FROM listed
  UNION ALL
  SELECT workspace_id, NULL, true FROM known WHERE status = 'UNSUBSCRIBED'
  UNION ALL
  SELECT id, 'MANUAL', false FROM asked WHERE $3::boolean AND NOT is_system
),
remembered AS (
  INSERT INTO erased_recipients AS e (workspace_id, address_hash, reason, is_unsubscribed)
  SELECT   workspace_id, erased_hash(workspace_id, $1::text), max(reason), bool_or(is_unsubscribed)
  FROM     withheld
  GROUP BY workspace_id
  ORDER BY workspace_id
  ON CONFLICT (workspace_id, address_hash) DO UPDATE
  SET      reason = coalesce(e.reason, excluded.reason), is_unsubscribed = e.is_unsubscribed OR excluded.is_unsubscribed
  RETURNING workspace_id
)
SELECT json_build_object(
         'suppressions', (SELECT count(*) FROM listed), 'contacts', (SELECT count(*) FROM known),
         'invitations', (SELECT count(*) FROM invited), 'verification_links', (SELECT count(*) FROM linked)) AS deleted,
       (SELECT coalesce(array_agg(workspace_id), '{}') FROM remembered) AS remembered,
       (SELECT coalesce(array_agg(DISTINCT workspace_id), '{}') FROM (
          SELECT workspace_id FROM listed UNION SELECT workspace_id FROM known
          UNION SELECT workspace_id FROM invited UNION SELECT workspace_id FROM linked) k) AS "workspaceIds"`;

/** The emails to a person in a range of ids. $1, $2 uuid: after, up to. $3 text: the address. $4 uuid: the workspace; null: all. Index: emails_pkey. Locks: none. */
export const EMAILS_TO = `
SELECT   e.id, e.workspace_id AS "workspaceId", e.status FROM emails e
WHERE    e.id > $1::uuid AND e.id <= $2::uuid AND lower(e.to_address) = lower($3::text) AND ($4::uuid IS NULL OR e.workspace_id = $4::uuid)
ORDER BY e.id`;

/** The events in a range of ids that name a person. $1, $2 uuid: after, up to. $3 text[], $4 text: the person. $5 uuid: the workspace; null: all. Index: events_pkey. Locks: none. */
export const EVENTS_NAMING = `
SELECT   e.id, e.workspace_id AS "workspaceId", e.payload FROM events e
WHERE    e.id > $1::uuid AND e.id <= $2::uuid AND names_person(e.payload, $3::text[], $4::text) AND ($5::uuid IS NULL OR e.workspace_id = $5::uuid)
ORDER BY e.id`;

/** The last id of the next group, and the number of its rows. $1 uuid: after this one. $2 int: group size. Indexes: the primary keys. Locks: none. */
export const endOfGroup = (table: 'emails' | 'events'): string => `
SELECT   id AS "end", count(*) OVER ()::int AS searched
FROM     (SELECT id FROM ${table} WHERE id > $1::uuid ORDER BY id LIMIT $2::int) g
ORDER BY id DESC
LIMIT    1`;

/** Deletes the outbox rows of these, unless they are claimed. $1 uuid[]. Index: outbox_pkey. Locks: the rows, in order. */
export const CANCEL_DUE = `
DELETE FROM outbox o
WHERE  o.subject_id IN (SELECT h.subject_id FROM outbox h WHERE h.subject_id = ANY ($1::uuid[]) AND h.state <> 'taken' ORDER BY h.subject_id FOR UPDATE)
AND    o.subject_id = ANY ($1::uuid[])`;

/**
 * Locks those of these deliveries that are not due: whoever makes one due again at that moment has done so by then, or finds nothing afterwards. $1 uuid[].
 * Indexes: webhook_deliveries_pkey, outbox_pkey. Locks: the rows, in order; the outbox may have some of them by then.
 */
export const LOCK_FINISHED_DELIVERIES = `
SELECT   d.id FROM webhook_deliveries d
WHERE    d.id = ANY ($1::uuid[]) AND NOT EXISTS (SELECT FROM outbox o WHERE o.subject_id = d.id)
ORDER BY d.id
FOR UPDATE OF d`;

/** Which of these deliveries exist. $1 uuid[]. Index: webhook_deliveries_pkey. Locks: none. */
export const DELIVERIES_AMONG = 'SELECT id FROM webhook_deliveries WHERE id = ANY ($1::uuid[])';

/** Those of these emails that are to a person. $1 uuid[]. $2 text: the address. Index: emails_pkey. Locks: none. */
export const EMAILS_TO_AMONG = `
SELECT   e.id, e.workspace_id AS "workspaceId", e.status FROM emails e
WHERE    e.id = ANY ($1::uuid[]) AND lower(e.to_address) = lower($2::text)
ORDER BY e.id`;

/** Those of these events that name a person. $1 uuid[]. $2 text[], $3 text: the person. Index: events_pkey. Locks: none. */
export const EVENTS_NAMING_AMONG = `
SELECT   e.id, e.workspace_id AS "workspaceId", e.payload FROM events e
WHERE    e.id = ANY ($1::uuid[]) AND names_person(e.payload, $2::text[], $3::text)
ORDER BY e.id`;
