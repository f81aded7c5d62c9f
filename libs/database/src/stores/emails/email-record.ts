import { type EmailId, idFromUuid } from '@posthorn/kernel';
import type { EmailStatus, HitCounts, ReportKind } from '@posthorn/domain';
import type { EmailEventKind } from '../../generated/client.ts';
import type { EmailSummaryRow } from '../../sql/email-list.ts';

/** An email without its content and its timeline. */
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

/** An entry of an email's timeline. */
interface EmailFact {
  readonly kind: EmailEventKind;
  readonly at: Date;
  readonly late: boolean;
  readonly duplicatePossible: boolean;
  /** The kind of report that it comes from; null: Posthorn recorded it itself. */
  readonly report: ReportKind | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** How often an email was opened and clicked, by people and by programs. */
interface Engagement extends HitCounts {
  /** When a person first opened it; null: nobody has. */
  readonly openedAt: Date | null;
  readonly clickedAt: Date | null;
}

/** An email without its content. */
export interface EmailRecord extends EmailSummary {
  /** Whether click tracking was requested, and open tracking below. */
  readonly trackClicks: boolean;
  readonly trackOpens: boolean;
  readonly engagement: Engagement;
  readonly timeline: readonly EmailFact[];
  /** When it is due to be sent for the first time or again; null: it is due already, being sent, or finished. */
  readonly nextAttemptAt: Date | null;
}

/** Converts a row to a summary. */
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

/** A row of `READ_EMAIL`: times inside JSON are strings. */
export type EmailRecordRow = EmailSummaryRow &
  Pick<EmailRecord, 'trackClicks' | 'trackOpens' | 'nextAttemptAt'> & {
    /** Null: nobody has opened it or clicked a link. */
    readonly engagement: TimesAsText<Engagement> | null;
    readonly timeline: readonly TimesAsText<EmailFact>[];
  };

type TimesAsText<Value> = {
  readonly [Key in keyof Value]: Value[Key] extends Date
    ? string
    : Value[Key] extends Date | null
      ? string | null
      : Value[Key];
};

/** Converts a row to an email with its timeline. */
export function emailRecord(row: EmailRecordRow): EmailRecord {
  const { trackClicks, trackOpens, engagement, timeline, nextAttemptAt } = row;
  return {
    ...emailSummary(row),
    trackClicks,
    trackOpens,
    engagement: engagementOf(engagement),
    timeline: timeline.map(emailFact),
    nextAttemptAt,
  };
}

function emailFact(fact: TimesAsText<EmailFact>): EmailFact {
  const { kind, at, late, duplicatePossible, report, detail } = fact;
  return { kind, at: new Date(at), late, duplicatePossible, report, detail };
}

const NO_ENGAGEMENT: Engagement = {
  opens: 0,
  clicks: 0,
  machineOpens: 0,
  machineClicks: 0,
  openedAt: null,
  clickedAt: null,
};

function engagementOf(engagement: TimesAsText<Engagement> | null): Engagement {
  if (engagement === null) return NO_ENGAGEMENT;
  const { openedAt, clickedAt } = engagement;
  return { ...engagement, openedAt: dateOf(openedAt), clickedAt: dateOf(clickedAt) };
}

function dateOf(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
