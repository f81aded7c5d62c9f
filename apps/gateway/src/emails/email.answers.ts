import { EMAIL_STATUSES } from '@posthorn/domain';
import {
  idOf,
  listOf,
  meaningsOf,
  nullable,
  objectOf,
  text,
  time,
  wordOf,
} from '../openapi/answer-schemas.ts';
import { AnswerField } from '../openapi/answer-field.ts';
import { pageOf } from '../paging/page-answer.ts';
import { EmailEngagement, EmailTimelineEntry, TIMELINE_EXAMPLE } from './email-timeline.answers.ts';

/** An email as the answer to its sending shows it (F4). */
export class Email {
  @AnswerField('The id of the email.', idOf('trs'))
  id!: string;

  @AnswerField('The Message-ID that the email carries, without its angle brackets.', text, {
    example: '01m7yxt5zwexraawhax4wxnnqq@example.com',
  })
  messageId!: string;

  @AnswerField(meaningsOf(EMAIL_STATUSES), wordOf('EmailStatus', Object.keys(EMAIL_STATUSES)), {
    example: 'SENT',
  })
  status!: string;

  @AnswerField('The address of the recipient.', text, { example: 'ada@example.com' })
  to!: string;

  @AnswerField(
    '`raw`: sent with its own HTML; `templated`: sent with a template.',
    wordOf('EmailType', ['raw', 'templated']),
  )
  type!: string;

  @AnswerField('The address of the sender; of raw emails.', text, {
    example: 'shop@example.com',
    optional: true,
  })
  from?: string;

  @AnswerField('The subject line; of raw emails.', text, { example: 'Your receipt', optional: true })
  subject?: string;

  @AnswerField('The name of the template; of templated emails.', text, { optional: true })
  template?: string;

  @AnswerField('The group in which the email is counted; present if it was given.', text, {
    example: 'order-receipts',
    optional: true,
  })
  groupBy?: string;
}

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

  @AnswerField('What happened to it, oldest first; the newest 500 entries.', listOf(EmailTimelineEntry), {
    example: TIMELINE_EXAMPLE,
  })
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
