/**
 * The columns needed to compose the message of `emails e`; shared by sending and previews, so that they compose the same message. The due time is not among
 * them: a claim must read that from the updated row. Variables are read as text, because the driver's JSON parser may misread keys chosen by a caller.
 */
export const COMPOSITION_COLUMNS = `e.workspace_id AS "workspaceId", e.from_address AS "fromAddress", e.from_name AS "fromName",
         e.to_address AS "toAddress", e.to_name AS "toName", e.reply_to AS "replyTo", e.subject, e.template_version_id AS "templateVersionId",
         e.message_id AS "messageId", e.unsubscribe, e.track_clicks AS "trackClicks",
         e.track_opens AS "trackOpens",
         (SELECT w.tracking_url FROM workspaces w WHERE w.id = e.workspace_id) AS "trackingUrl", k.html, k.text, k.preview_text AS "previewText", k.variables::text AS variables`;

/** The joins for {@link COMPOSITION_COLUMNS}: nested loops, whatever table size a cached plan assumes (see `claimCtes`). Indexes: email_contents_pkey, workspaces_pkey. */
export const COMPOSITION_JOINS =
  'CROSS JOIN LATERAL (SELECT * FROM email_contents WHERE email_id = e.id OFFSET 0) k';

/** Reads what composing one email takes. $1 uuid: the email. $2 uuid: its workspace. Indexes: emails_pkey, email_contents_pkey, workspaces_pkey. */
export const READ_COMPOSITION = `
SELECT e.id, coalesce(e.send_at, e.accepted_at) AS "fellDueAt", ${COMPOSITION_COLUMNS}
FROM   emails e
${COMPOSITION_JOINS}
WHERE  e.id = $1::uuid AND e.workspace_id = $2::uuid`;
