import type { EmailStatus } from '../email-status.ts';
import type { EventName } from '../events/events.ts';
import { classifyReply } from '../replies/classify-reply.ts';
import { effectOf, type ReplyClass } from '../replies/reply-classes.ts';
import type { SuppressionReason } from '../suppression.ts';
import type { Report } from './report.ts';

/** What a report does. */
export interface ReportVerdict {
  /** What the timeline says. */
  readonly fact: 'BOUNCED' | 'FAILED' | 'DELAYED' | 'DELIVERED' | 'COMPLAINED' | 'UNRECOGNISED';
  /** What the email becomes; null: it stays what it is. What it becomes is final, so nothing of it is due any more. */
  readonly status: 'BOUNCED' | 'FAILED' | 'DELIVERED' | 'COMPLAINED' | null;
  /** What webhooks are told; null: nothing. */
  readonly event: EventName | null;
  /** What the recipient is put on the suppression list for; null: they are not. */
  readonly suppression: SuppressionReason | null;
  /** It came when the email was past that, and changed nothing but the timeline. */
  readonly isLate: boolean;
  /** Of what is quoted. */
  readonly class?: ReplyClass;
}

const UNCHANGED = { status: null, event: null, suppression: null } as const;

/**
 * What becomes of an email that a report came about. A state is never gone back from: DELIVERED and the refusals for good come out of SENT
 * alone, COMPLAINED out of SENT and DELIVERED. A complaint is heard whatever the email is, because it is the recipient who speaks.
 */
export function decideAfterReport(report: Report, status: EmailStatus): ReportVerdict {
  const isLate = status !== 'SENT';
  switch (report.kind) {
    case 'failed':
      return afterFailure(report, isLate);
    case 'delayed':
      return isLate
        ? late('DELAYED')
        : { ...UNCHANGED, fact: 'DELAYED', event: 'EMAIL_DELAYED', isLate, ...classOf(report) };
    case 'delivered':
      return isLate ? late('DELIVERED') : becomes('DELIVERED');
    case 'complaint':
      return afterComplaint(status);
    case 'unrecognised':
      return { ...UNCHANGED, fact: 'UNRECOGNISED', isLate: false };
  }
}

/**
 * By the table of replies. A server that gave up on an answer that was not for good has used up its retries: FAILED, and nobody is
 * suppressed, as where ours are used up. Neither is a recipient for the sake of somebody whom the mail was passed on to.
 */
function afterFailure(report: Report, isLate: boolean): ReportVerdict {
  const replyClass = classOf(report);
  const isPermanent = report.reply !== undefined && report.reply.code >= 500;
  const effect = replyClass.class === undefined ? undefined : effectOf(replyClass.class);
  const fact = isPermanent && effect?.status === 'BOUNCED' ? 'BOUNCED' : 'FAILED';
  if (isLate) return { ...late(fact), ...replyClass };
  const suppresses = fact === 'BOUNCED' && effect?.suppresses === true && report.isAboutRecipient;
  return { ...becomes(fact), suppression: suppresses ? 'HARD_BOUNCE' : null, ...replyClass };
}

function afterComplaint(status: EmailStatus): ReportVerdict {
  const isNew = status === 'SENT' || status === 'DELIVERED';
  return { ...becomes('COMPLAINED'), status: isNew ? 'COMPLAINED' : null, suppression: 'COMPLAINT' };
}

function classOf({ reply }: Report): { class?: ReplyClass } {
  return reply === undefined ? {} : { class: classifyReply(reply, 'rcpt') };
}

function becomes(status: NonNullable<ReportVerdict['status']>): ReportVerdict {
  return { fact: status, status, event: `EMAIL_${status}`, suppression: null, isLate: false };
}

function late(fact: ReportVerdict['fact']): ReportVerdict {
  return { ...UNCHANGED, fact, isLate: true };
}
