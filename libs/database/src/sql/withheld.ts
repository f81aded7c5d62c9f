/** Why nothing is sent to the recipient of `emails e` just now; null: it is. See the function in the migration for its index. */
export const WHY_WITHHELD = `why_withheld(e.workspace_id, e.to_address, e.unsubscribe) AS "withheldFor"`;

/**
 * The same for several emails. $1 uuid[]: the emails, none twice.
 * Indexes: emails_pkey, suppressions_workspace_email_key, contacts_workspace_email_key. Locks: none.
 */
export const ASK_WHY_WITHHELD = `
SELECT e.id, ${WHY_WITHHELD}
FROM   emails e
WHERE  e.id = ANY ($1::uuid[])`;
