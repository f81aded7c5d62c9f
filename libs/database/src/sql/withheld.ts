/**
 * Why nothing may be sent to the recipient of `emails e` just now; null: it may. Those who were erased are no longer on the list or among the contacts,
 * so their hash is looked up too. Indexes: suppressions_workspace_email_key, contacts_workspace_email_key, erased_recipients_pkey. Locks: none.
 */
export const WHY_WITHHELD = `coalesce(
           (SELECT lower(s.reason::text) FROM suppressions s
            WHERE  s.workspace_id = e.workspace_id AND lower(s.email) = lower(e.to_address)),
           CASE WHEN e.unsubscribe THEN
             (SELECT CASE WHEN p.status = 'UNSUBSCRIBED' THEN 'unsubscribed' END FROM contacts p
              WHERE  p.workspace_id = e.workspace_id AND lower(p.email) = lower(e.to_address)) END,
           (SELECT coalesce(lower(h.reason::text), CASE WHEN e.unsubscribe AND h.is_unsubscribed THEN 'unsubscribed' END)
            FROM   erased_recipients h
            WHERE  h.workspace_id = e.workspace_id AND h.address_hash = erased_hash(e.workspace_id, e.to_address)))`;

/** The same for several emails. $1 uuid[]: the emails, none twice. Indexes: emails_pkey, then those. Locks: none. */
export const ASK_WHY_WITHHELD = `
SELECT e.id, ${WHY_WITHHELD} AS "withheldFor"
FROM   emails e
WHERE  e.id = ANY ($1::uuid[])`;
