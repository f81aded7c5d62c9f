import type { Attachment, Mailbox } from '@posthorn/domain';
import { selectList } from './select-list.ts';

/** The id of an email, and what COMPOSITION_COLUMNS gives. */
export interface CompositionRow {
  id: string;
  workspaceId: string;
  fromAddress: string;
  fromName: string | null;
  toAddress: string;
  toName: string | null;
  replyTo: Mailbox[] | null;
  subject: string | null;
  templateVersionId: string | null;
  messageId: string;
  unsubscribe: boolean;
  trackClicks: boolean;
  trackOpens: boolean;
  trackingUrl: string | null;
  fellDueAt: Date;
  html: string | null;
  text: string | null;
  previewText: string | null;
  variables: string | null;
  attachments: Attachment[] | null;
}

/**
 * The columns needed to compose the message of `emails e`; shared by sending and previews, so that they compose the same message. The due time is not among
 * them: a claim must read that from the updated row. Variables are read as text, because the driver's JSON parser may misread keys chosen by a caller.
 */
export const COMPOSITION_COLUMNS = selectList({
  workspaceId: 'e.workspace_id',
  fromAddress: 'e.from_address',
  fromName: 'e.from_name',
  toAddress: 'e.to_address',
  toName: 'e.to_name',
  replyTo: 'e.reply_to',
  subject: 'e.subject',
  templateVersionId: 'e.template_version_id',
  messageId: 'e.message_id',
  unsubscribe: 'e.unsubscribe',
  trackClicks: 'e.track_clicks',
  trackOpens: 'e.track_opens',
  trackingUrl: '(SELECT w.tracking_url FROM workspaces w WHERE w.id = e.workspace_id)',
  html: 'k.html',
  text: 'k.text',
  previewText: 'k.preview_text',
  variables: 'k.variables::text',
  attachments: 'k.attachments',
} satisfies Record<Exclude<keyof CompositionRow, 'id' | 'fellDueAt'>, string>);

/** The joins for {@link COMPOSITION_COLUMNS}: nested loops, whatever table size a cached plan assumes (see `claimCtes`). Indexes: email_contents_pkey, workspaces_pkey. */
export const COMPOSITION_JOINS =
  'CROSS JOIN LATERAL (SELECT * FROM email_contents WHERE email_id = e.id OFFSET 0) k';

/** Reads what composing one email takes. $1 uuid: the email. $2 uuid: its workspace. Indexes: emails_pkey, email_contents_pkey, workspaces_pkey. */
export const READ_COMPOSITION = `
SELECT e.id, coalesce(e.send_at, e.accepted_at) AS "fellDueAt", ${COMPOSITION_COLUMNS}
FROM   emails e
${COMPOSITION_JOINS}
WHERE  e.id = $1::uuid AND e.workspace_id = $2::uuid`;
