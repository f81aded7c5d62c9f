import { EVENT_EMAIL } from '@posthorn/domain';
import { MAX_TIMELINE_ENTRIES } from '@posthorn/database';
import { listOf, nullable, objectOf, time } from '../openapi/answer-schemas.ts';
import { AnswerField, answerOfShape } from '../openapi/answer-field.ts';
import { pageOf } from '../paging/page-answer.ts';
import { EmailEngagement, EmailTimelineEntry, TIMELINE_EXAMPLE } from './email-timeline.answers.ts';

/** An email as the answer to its sending shows it (F4), and as its events do. */
export class Email extends answerOfShape(EVENT_EMAIL, {
  ...EVENT_EMAIL.example,
  to: 'ada@example.com',
  from: 'shop@example.com',
  subject: 'Your receipt',
  groupBy: 'order-receipts',
}) {}

export class EmailWithTimes extends Email {
  @AnswerField('When it was accepted.', time)
  createdAt!: Date;

  @AnswerField(
    'The time for which it is or was scheduled; `null` if it was to be sent at once.',
    nullable(time),
    { example: null },
  )
  sendAt!: Date | null;

  @AnswerField('When the relay took it; `null` until then.', nullable(time))
  sentAt!: Date | null;
}

/** An email with what has become of it. */
export class EmailWithTimeline extends EmailWithTimes {
  @AnswerField('How often it was opened and clicked.', objectOf(EmailEngagement))
  engagement!: EmailEngagement;

  @AnswerField(
    `What happened to it, oldest first; the newest ${MAX_TIMELINE_ENTRIES} entries.`,
    listOf(EmailTimelineEntry),
    { example: TIMELINE_EXAMPLE },
  )
  timeline!: object[];
}

/** The answer to an email that was accepted. */
export class EmailAcceptedAnswer {
  @AnswerField('The email.', objectOf(Email))
  email!: Email;
}

/** The answer that shows an email. */
export class EmailAnswer {
  @AnswerField('The email.', objectOf(EmailWithTimeline))
  email!: EmailWithTimeline;
}

class EmailPage extends pageOf('The emails, in the requested order.', EmailWithTimes) {}

/** The answer that lists emails. */
export class EmailsAnswer {
  @AnswerField('The page.', objectOf(EmailPage))
  emails!: EmailPage;
}
