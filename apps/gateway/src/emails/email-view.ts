import type { EmailRecord, EmailSummary } from '@posthorn/database';
import { foundBy } from '../validation/path-ids.ts';
import type { EmailAnswer, EmailWithTimeline, EmailWithTimes } from './email.answers.ts';

/** The API representation of an email in a list (F4, with its times). */
export function emailSummaryView(email: EmailSummary): EmailWithTimes {
  const { id, messageId, status, to, type, groupBy, sendAt, acceptedAt, sentAt } = email;
  return {
    id,
    messageId,
    status,
    to,
    type,
    ...ofType(email),
    ...(groupBy === null ? {} : { groupBy }),
    createdAt: acceptedAt,
    sendAt,
    sentAt,
  };
}

/** The answer that shows an email, with what has become of it. @throws Refusal 404 when there is none */
export function emailAnswer(found: EmailRecord | undefined): EmailAnswer {
  return { email: emailView(foundBy('email_id', found)) };
}

function emailView(email: EmailRecord): EmailWithTimeline {
  const { sendAt, acceptedAt, timeline, engagement } = email;
  return {
    ...emailSummaryView(email),
    engagement,
    timeline: [
      { event: sendAt === null ? 'ACCEPTED' : 'SCHEDULED', createdAt: acceptedAt },
      ...timeline.map(({ kind, at, late, duplicatePossible, report, detail }) => ({
        event: kind,
        createdAt: at,
        ...(late ? { late } : {}),
        ...(duplicatePossible ? { duplicatePossible } : {}),
        ...(report === null ? {} : { report }),
        ...detail,
      })),
    ],
  };
}

function ofType({
  from,
  subject,
  template,
}: EmailSummary): Pick<EmailWithTimes, 'from' | 'subject' | 'template'> {
  return subject === null ? { template: template! } : { from, subject };
}
