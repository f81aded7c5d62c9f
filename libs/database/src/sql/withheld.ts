/**
 * Why `emails e` must be withheld from its recipient now; null: it need not be. Erased persons are neither on the suppression list nor among the contacts, so
 * the hash of the address is looked up too. Indexes: suppressions_workspace_email_key, contacts_workspace_email_key, erased_recipients_pkey. Locks: none.
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

/** The same for several emails. $1 uuid[]: distinct emails. Indexes: emails_pkey, then those. Locks: none. */
export const ASK_WHY_WITHHELD = `
SELECT e.id, ${WHY_WITHHELD} AS "withheldFor"
FROM   emails e
WHERE  e.id = ANY ($1::uuid[])`;
