import { type EmailId, idFromUuid, type TemplateVersionId, type WorkspaceId } from '@posthorn/kernel';
import type { Attachment, Mailbox } from '@posthorn/domain';
import type { CompositionRow } from '../../sql/composition.ts';

/** Content given by the caller. */
interface RawContent {
  readonly type: 'raw';
  readonly subject: string;
  readonly html: string;
  /** Null: generated from the HTML. */
  readonly text: string | null;
  readonly previewText: string | null;
}

/** Content of a template, with these variables. */
export interface TemplatedContent {
  readonly type: 'templated';
  readonly templateVersionId: TemplateVersionId;
  /** JSON with keys chosen by the caller, so parse it with `parseJson`. */
  readonly variables: string;
}

/** All that composing an email's message takes. The same input gives the same message. */
export interface ComposableEmail {
  readonly id: EmailId;
  readonly workspaceId: WorkspaceId;
  readonly from: Mailbox;
  readonly to: Mailbox;
  readonly replyTo: readonly Mailbox[];
  readonly messageId: string;
  readonly fellDueAt: Date;
  /** Whether it carries an unsubscribe link. */
  readonly unsubscribe: boolean;
  /** Whether its links are replaced by tracked ones. */
  readonly trackClicks: boolean;
  /** Whether it contains a tracking image. */
  readonly trackOpens: boolean;
  /** The base URL of the workspace's tracked links and images, without a trailing slash; null: that of the installation. */
  readonly trackingUrl: string | null;
  readonly content: RawContent | TemplatedContent;
  readonly attachments: readonly Attachment[];
}

/** Reads a row of COMPOSITION_COLUMNS. */
export function composableEmail(row: CompositionRow): ComposableEmail {
  return {
    id: idFromUuid('trs', row.id),
    workspaceId: idFromUuid('wrk', row.workspaceId),
    from: mailboxOf(row.fromAddress, row.fromName),
    to: mailboxOf(row.toAddress, row.toName),
    replyTo: row.replyTo ?? [],
    messageId: row.messageId,
    fellDueAt: row.fellDueAt,
    unsubscribe: row.unsubscribe,
    trackClicks: row.trackClicks,
    trackOpens: row.trackOpens,
    trackingUrl: row.trackingUrl,
    content: contentOf(row),
    attachments: row.attachments ?? [],
  };
}

/** A CHECK constraint of `emails` ensures that each row has the columns of its type. */
function contentOf(row: CompositionRow): RawContent | TemplatedContent {
  const { subject, html, text, previewText, templateVersionId, variables } = row;
  if (templateVersionId === null) return { type: 'raw', subject: subject!, html: html!, text, previewText };
  const id = idFromUuid('tpv', templateVersionId);
  return { type: 'templated', templateVersionId: id, variables: variables! };
}

/** A mailbox out of its columns. */
export function mailboxOf(address: string, name: string | null): Mailbox {
  return name === null ? { address } : { address, name };
}
