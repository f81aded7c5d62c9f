import { hasOptedOut } from './erased-recipients.ts';

/**
 * The recipient of an email, its workspace, the recipient as a contact, and whether they are subscribed; one who is not a contact counts as subscribed,
 * unless they had unsubscribed before the contact was deleted.
 *
 * $1 uuid: the email. Indexes: emails_pkey, workspaces_pkey, contacts_workspace_email_key, erased_recipients_pkey. Locks: none.
 */
export const READ_SUBSCRIPTION = `
SELECT    e.workspace_id AS "workspaceId", w.name AS "workspaceName", e.to_address AS email, c.id AS "contactId",
          CASE WHEN c.status = 'UNSUBSCRIBED' OR ${hasOptedOut('e.workspace_id', 'e.to_address')}
               THEN 'UNSUBSCRIBED' ELSE 'SUBSCRIBED' END AS status
FROM      emails e
JOIN      workspaces w ON w.id = e.workspace_id
LEFT JOIN contacts c ON c.workspace_id = e.workspace_id AND lower(c.email) = lower(e.to_address)
WHERE     e.id = $1::uuid AND e.unsubscribe`;
