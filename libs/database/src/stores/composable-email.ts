import { type EmailId, idFromUuid, type TemplateVersionId, type WorkspaceId } from '@posthorn/kernel';
import type { Mailbox } from '@posthorn/domain';

/** What an email says because its caller said it. */
interface RawContent {
  readonly type: 'raw';
  readonly subject: string;
  readonly html: string;
  /** Null: to be made from the HTML. */
  readonly text: string | null;
  readonly previewText: string | null;
}

/** What an email says because a template does, with these variables. */
export interface TemplatedContent {
  readonly type: 'templated';
  readonly templateVersionId: TemplateVersionId;
  /** JSON text with keys of a caller's choice; for `parseJson`. */
  readonly variables: string;
}

/** An email with all that composing its message takes; the same gives the same message. */
export interface ComposableEmail {
  readonly id: EmailId;
  readonly workspaceId: WorkspaceId;
  readonly from: Mailbox;
  readonly to: Mailbox;
  readonly replyTo: readonly Mailbox[];
  readonly messageId: string;
  readonly fellDueAt: Date;
  /** Whether it carries a way to unsubscribe. */
  readonly unsubscribe: boolean;
  /** Whether its links lead by way of us. */
  readonly trackClicks: boolean;
  /** Whether it has an image that shows that it is opened. */
  readonly trackOpens: boolean;
  /** Where its workspace wants tracked links and images to lead, without a slash at the end; null: where those of the installation do. */
  readonly trackingUrl: string | null;
  readonly content: RawContent | TemplatedContent;
}

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
  };
}

/** By the constraint of `emails` each has the fields of its type. */
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
