import type { EmailStatus } from '../email-status.ts';
import type { EventName } from '../events/events.ts';
import { classifyReply } from '../replies/classify-reply.ts';
import { REPLY_CLASSES, type ReplyClass } from '../replies/reply-classes.ts';
import type { SuppressionReason } from '../suppression.ts';
import type { Report } from './report.ts';

/** The effects of a report. */
export interface ReportVerdict {
  /** The entry in the timeline. */
  readonly fact: 'BOUNCED' | 'FAILED' | 'DELAYED' | 'DELIVERED' | 'COMPLAINED' | 'UNRECOGNISED';
  /** The new status of the email, which is final, so nothing of it is due any more; null: unchanged. */
  readonly status: 'BOUNCED' | 'FAILED' | 'DELIVERED' | 'COMPLAINED' | null;
  /** The event for webhooks; null: none. */
  readonly event: EventName | null;
  /** Why the recipient is put on the suppression list; null: they are not. */
  readonly suppression: SuppressionReason | null;
  /** It came too late to change anything but the timeline. */
  readonly isLate: boolean;
  /** Of the quoted reply. */
  readonly class?: ReplyClass;
}

const UNCHANGED = { status: null, event: null, suppression: null } as const;

/**
 * The statuses of an email that has no result yet. A report proves that it was sent: one that is SCHEDULED all the same is from a backup that
 * was restored, and must not be sent again if the report decides it.
 */
const UNDECIDED: readonly EmailStatus[] = ['SCHEDULED', 'SENT'];

/**
 * Decides the effects of a report. No status is ever reverted: DELIVERED and permanent failures only follow {@link UNDECIDED}; COMPLAINED also
 * follows DELIVERED. A complaint suppresses the recipient whatever the status of the email, because it is the recipient's own wish.
 */
export function decideAfterReport(report: Report, status: EmailStatus): ReportVerdict {
  const isLate = !UNDECIDED.includes(status);
  switch (report.kind) {
    case 'failed':
      return afterFailure(report, isLate);
    case 'delayed':
      return isLate
        ? late('DELAYED')
        : { ...UNCHANGED, fact: 'DELAYED', event: 'EMAIL_DELAYED', isLate, ...classOf(report) };
    case 'delivered':
      return isLate ? late('DELIVERED') : changesTo('DELIVERED');
    case 'complaint':
      return afterComplaint(status);
    case 'unrecognised':
      return { ...UNCHANGED, fact: 'UNRECOGNISED', isLate: false };
  }
}

/**
 * Follows the table of replies. A server that gave up after temporary replies has exhausted its retries: FAILED without suppression, as when
 * ours are exhausted. A recipient is not suppressed because of somebody to whom the mail was forwarded.
 */
function afterFailure(report: Report, isLate: boolean): ReportVerdict {
  const replyClass = classOf(report);
  const isPermanent = report.reply !== undefined && report.reply.code >= 500;
  const effect = replyClass.class === undefined ? undefined : REPLY_CLASSES[replyClass.class];
  const fact = isPermanent && effect?.status === 'BOUNCED' ? 'BOUNCED' : 'FAILED';
  if (isLate) return { ...late(fact), ...replyClass };
  const suppresses = fact === 'BOUNCED' && effect?.suppresses === true && report.isAboutRecipient;
  return { ...changesTo(fact), suppression: suppresses ? 'HARD_BOUNCE' : null, ...replyClass };
}

function afterComplaint(status: EmailStatus): ReportVerdict {
  const isNew = UNDECIDED.includes(status) || status === 'DELIVERED';
  return { ...changesTo('COMPLAINED'), status: isNew ? 'COMPLAINED' : null, suppression: 'COMPLAINT' };
}

function classOf({ reply, stage = 'rcpt' }: Report): { class?: ReplyClass } {
  return reply === undefined ? {} : { class: classifyReply(reply, stage) };
}

function changesTo(status: NonNullable<ReportVerdict['status']>): ReportVerdict {
  return { fact: status, status, event: `EMAIL_${status}`, suppression: null, isLate: false };
}

function late(fact: ReportVerdict['fact']): ReportVerdict {
  return { ...UNCHANGED, fact, isLate: true };
}
