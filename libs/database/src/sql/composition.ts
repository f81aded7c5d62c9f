/**
 * What is needed to compose an email's message, out of `emails e`: written once, for sending and for previews, so that what is shown is what leaves.
 * The time at which it fell due is not among them: a claim must read that after it has claimed. Variables as text: the driver's own parser can misread keys of a caller's choice.
 */
export const COMPOSITION_COLUMNS = `e.workspace_id AS "workspaceId", e.from_address AS "fromAddress", e.from_name AS "fromName",
         e.to_address AS "toAddress", e.to_name AS "toName", e.reply_to AS "replyTo", e.subject, e.template_version_id AS "templateVersionId",
         e.message_id AS "messageId", e.unsubscribe, e.track_clicks AS "trackClicks",
         e.track_opens AS "trackOpens",
         (SELECT w.tracking_url FROM workspaces w WHERE w.id = e.workspace_id) AS "trackingUrl", k.html, k.text, k.preview_text AS "previewText", k.variables::text AS variables`;

/**
 * The tables of {@link COMPOSITION_COLUMNS} beside `emails e`, read row by row whatever a kept plan takes their size for (see `claimed`).
 * Indexes: email_contents_pkey, workspaces_pkey.
 */
export const COMPOSITION_JOINS =
  'CROSS JOIN LATERAL (SELECT * FROM email_contents WHERE email_id = e.id OFFSET 0) k';

/** What composing one email's message takes. $1 uuid: the email. $2 uuid: its workspace. Indexes: emails_pkey, email_contents_pkey, workspaces_pkey. */
export const READ_COMPOSITION = `
SELECT e.id, coalesce(e.send_at, e.accepted_at) AS "fellDueAt", ${COMPOSITION_COLUMNS}
FROM   emails e
${COMPOSITION_JOINS}
WHERE  e.id = $1::uuid AND e.workspace_id = $2::uuid`;
