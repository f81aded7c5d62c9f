import { type EmailRecord } from '@posthorn/database';
import { type EmailWithTimeline } from './email.answers.ts';

/** An email as the interface shows it (2.4), with what has become of it. */
export function emailView(email: EmailRecord): EmailWithTimeline {
  const { id, messageId, status, to, type, groupBy, sendAt, acceptedAt, sentAt, timeline } = email;
  return {
    ...{ id, messageId, status, to, type },
    ...ofType(email),
    ...(groupBy === null ? {} : { groupBy }),
    ...{ createdAt: acceptedAt, sendAt, sentAt },
    timeline: [
      { event: sendAt === null ? 'ACCEPTED' : 'SCHEDULED', createdAt: acceptedAt },
      ...timeline.map(({ kind, at, late, duplicatePossible, detail }) => ({
        event: kind,
        createdAt: at,
        ...(late ? { late } : {}),
        ...(duplicatePossible ? { duplicatePossible } : {}),
        ...detail,
      })),
    ],
  };
}

function ofType({
  from,
  subject,
  template,
}: EmailRecord): Pick<EmailWithTimeline, 'from' | 'subject' | 'template'> {
  return subject === null ? { template: template! } : { from, subject };
}
