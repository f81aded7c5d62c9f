const HAS_ADDRESS = 'workspace_id = $2::uuid AND lower(email) = lower($1::text)';

/**
 * Deletes a person's suppression, contact, invitations and verification links in a workspace, and keeps only a hash of the address if nothing may be sent to it.
 *
 * $1 text: the address. $2 uuid: the workspace. $3 bool: whether to withhold future emails in any case. $4 timestamptz: contacts that are newer stay. $5 bytea:
 * the hash of the address that links have.
 * Indexes: suppressions_workspace_email_key, contacts_workspace_email_key; invitations and links are few. Locks: the rows.
 */
export const FORGET_PERSON = `
WITH listed AS (
  DELETE FROM suppressions WHERE ${HAS_ADDRESS}
  RETURNING reason
),
known AS (
  DELETE FROM contacts WHERE ${HAS_ADDRESS} AND created_at <= $4::timestamptz
  RETURNING status
),
invited AS (
  DELETE FROM invitations WHERE ${HAS_ADDRESS}
  RETURNING id
),
linked AS (
  DELETE FROM verification_links
  WHERE  workspace_id = $2::uuid AND address_hash = $5::bytea
  RETURNING id
),
withheld AS (
  SELECT reason, false AS is_unsubscribed FROM listed
  UNION ALL
  SELECT NULL, true FROM known WHERE status = 'UNSUBSCRIBED'
  UNION ALL
  SELECT 'MANUAL', false FROM workspaces WHERE id = $2::uuid AND $3::boolean AND NOT is_system
),
remembered AS (
  INSERT INTO erased_recipients AS e (workspace_id, address_hash, reason, is_unsubscribed)
  SELECT   $2::uuid, erased_hash($2::uuid, $1::text), max(reason), bool_or(is_unsubscribed)
  FROM     withheld
  HAVING   count(*) > 0
  ON CONFLICT (workspace_id, address_hash) DO UPDATE
  SET      reason = coalesce(e.reason, excluded.reason), is_unsubscribed = e.is_unsubscribed OR excluded.is_unsubscribed
  RETURNING workspace_id
)
SELECT json_build_object(
         'suppressions', (SELECT count(*) FROM listed), 'contacts', (SELECT count(*) FROM known),
         'invitations', (SELECT count(*) FROM invited), 'verification_links', (SELECT count(*) FROM linked)) AS deleted,
       EXISTS (SELECT FROM remembered) AS "isRemembered"`;

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

/** Those of these emails that are to a person and were accepted by a time. $1 uuid[]. $2 text: the address. $3 timestamptz. Index: emails_pkey. Locks: none. */
export const EMAILS_TO_AMONG = `
SELECT   e.id, e.status FROM emails e
WHERE    e.id = ANY ($1::uuid[]) AND lower(e.to_address) = lower($2::text) AND e.accepted_at <= $3::timestamptz
ORDER BY e.id`;

/** Which of these emails exist. $1 uuid[]. Index: emails_pkey. Locks: none. */
export const EMAILS_AMONG = 'SELECT id FROM emails WHERE id = ANY ($1::uuid[])';

/** Those of these events that name a person. $1 uuid[]. $2 text[], $3 text: the person. $4 timestamptz: a time. Index: events_pkey. Locks: none. */
export const EVENTS_NAMING_AMONG = `
SELECT   e.id, e.payload, e.created_at > $4::timestamptz AS "isLater" FROM events e
WHERE    e.id = ANY ($1::uuid[]) AND names_person(e.payload, $2::text[], $3::text)
ORDER BY e.id`;
