import { type EmailId, idFromUuid, type WorkspaceId } from '@posthorn/kernel';
import { type Mailbox } from '@posthorn/domain';

/** An email with all that composing its message takes; the same gives the same message. */
export interface ComposableEmail {
  readonly id: EmailId;
  readonly workspaceId: WorkspaceId;
  readonly from: Mailbox;
  readonly to: Mailbox;
  readonly replyTo: readonly Mailbox[];
  readonly subject: string;
  readonly messageId: string;
  readonly fellDueAt: Date;
  readonly html: string;
  /** Null: to be made from the HTML. */
  readonly text: string | null;
  readonly previewText: string | null;
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
  subject: string;
  messageId: string;
  fellDueAt: Date;
  html: string;
  text: string | null;
  previewText: string | null;
}

/** Reads a row of COMPOSITION_COLUMNS. */
export function composableEmail(row: CompositionRow): ComposableEmail {
  return {
    id: idFromUuid('trs', row.id),
    workspaceId: idFromUuid('wrk', row.workspaceId),
    from: mailbox(row.fromAddress, row.fromName),
    to: mailbox(row.toAddress, row.toName),
    replyTo: row.replyTo ?? [],
    subject: row.subject,
    messageId: row.messageId,
    fellDueAt: row.fellDueAt,
    html: row.html,
    text: row.text,
    previewText: row.previewText,
  };
}

function mailbox(address: string, name: string | null): Mailbox {
  return name === null ? { address } : { address, name };
}
