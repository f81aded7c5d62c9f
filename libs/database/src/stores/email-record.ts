import { type EmailId, idFromUuid } from '@posthorn/kernel';
import type { EmailStatus, HitCounts, ReportKind } from '@posthorn/domain';
import type {
  Email as EmailRow,
  EmailEvent as EmailEventRow,
  EmailEngagement as EmailEngagementRow,
  EmailEventKind,
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
interface EmailFact {
  readonly kind: EmailEventKind;
  readonly at: Date;
  readonly late: boolean;
  readonly duplicatePossible: boolean;
  /** The kind of report that said so; null: it is a fact of our own. */
  readonly report: ReportKind | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** How often an email was opened and clicked, by people and by programs. */
interface Engagement extends HitCounts {
  /** When a person first did; null: none has. */
  readonly openedAt: Date | null;
  readonly clickedAt: Date | null;
}

/** What is known of an email, but for its content. */
export interface EmailRecord extends EmailSummary {
  /** Whether it was asked for that it shows when its links are followed, and when it is opened. */
  readonly trackClicks: boolean;
  readonly trackOpens: boolean;
  readonly engagement: Engagement;
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

/** The email in a row, without its timeline. */
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

/** The entry of a timeline in a row. */
export function emailFact(row: EmailEventRow): EmailFact {
  const { kind, at, late, duplicatePossible, report, detail } = row;
  return { kind, at, late, duplicatePossible, report, detail: detail as Record<string, unknown> };
}

const NOTHING: Engagement = {
  opens: 0,
  clicks: 0,
  machineOpens: 0,
  machineClicks: 0,
  openedAt: null,
  clickedAt: null,
};

/** How often an email was opened and clicked; without a row, never. */
export function engagementOf(row: EmailEngagementRow | null): Engagement {
  if (row === null) return NOTHING;
  const { opens, clicks, machineOpens, machineClicks, openedAt, clickedAt } = row;
  return { opens, clicks, machineOpens, machineClicks, openedAt, clickedAt };
}
