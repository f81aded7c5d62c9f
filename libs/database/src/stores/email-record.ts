import { type EmailId, idFromUuid } from '@posthorn/kernel';
import { type EmailStatus } from '@posthorn/domain';
import {
  type Email as EmailRow,
  type EmailEvent as EmailEventRow,
  type EmailEventKind,
} from '../generated/client.ts';

/** What is known of an email, but for its content and its timeline. */
export interface EmailSummary {
  readonly id: EmailId;
  readonly type: 'raw' | 'templated';
  readonly status: EmailStatus;
  readonly from: string;
  readonly to: string;
  /** Null for a templated email. */
  readonly subject: string | null;
  /** Null for a raw email. */
  readonly template: string | null;
  readonly messageId: string;
  readonly groupBy: string | null;
  readonly sendAt: Date | null;
  readonly acceptedAt: Date;
  readonly sentAt: Date | null;
}

/** A fact of an email's life. */
export interface EmailFact {
  readonly kind: EmailEventKind;
  readonly at: Date;
  readonly late: boolean;
  readonly duplicatePossible: boolean;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** What is known of an email, but for its content. */
export interface EmailRecord extends EmailSummary {
  readonly timeline: readonly EmailFact[];
}

/** The columns of a summary. */
export type EmailSummaryRow = Pick<
  EmailRow,
  | 'id'
  | 'type'
  | 'status'
  | 'fromAddress'
  | 'toAddress'
  | 'subject'
  | 'templateName'
  | 'messageId'
  | 'groupBy'
  | 'sendAt'
  | 'acceptedAt'
  | 'sentAt'
>;

export function emailSummary(row: EmailSummaryRow): EmailSummary {
  const { type, status, subject, messageId, groupBy, sendAt, acceptedAt, sentAt } = row;
  return {
    id: idFromUuid('trs', row.id),
    type,
    status,
    from: row.fromAddress,
    to: row.toAddress,
    subject,
    template: row.templateName,
    messageId,
    groupBy,
    sendAt,
    acceptedAt,
    sentAt,
  };
}

export function emailFact({ kind, at, late, duplicatePossible, detail }: EmailEventRow): EmailFact {
  return { kind, at, late, duplicatePossible, detail: detail as Record<string, unknown> };
}
