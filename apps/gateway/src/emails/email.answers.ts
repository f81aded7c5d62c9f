import { RELEASE } from '@posthorn/kernel';
import { EMAIL_STATUSES, type MachineSign, REPLY_CLASS_NAMES, REPORT_KIND_NAMES } from '@posthorn/domain';
import {
  count,
  idOf,
  listOf,
  nullable,
  objectOf,
  text,
  time,
  truth,
  wordOf,
} from '../openapi/answer-schemas.ts';
import { Shown } from '../openapi/shown.ts';
import { pageOf } from '../paging/page-answer.ts';

const REPLY = { code: 250, enhancedCode: '2.0.0', text: '2.0.0 Ok: queued as 4bQz7' };

/** An email as the answer to its sending shows it (interface 2.4). */
export class Email {
  @Shown('The id of the email.', idOf('trs'))
  id!: string;

  @Shown('The Message-ID that the email carries, without its angle brackets.', text, {
    example: '01m7yxt5zwexraawhax4wxnnqq@example.com',
  })
  messageId!: string;

  @Shown('What has become of it.', wordOf(Object.keys(EMAIL_STATUSES)), { example: 'SENT' })
  status!: string;

  @Shown('The address of the recipient.', text, { example: 'ada@example.com' })
  to!: string;

  @Shown('Whether it was sent with its HTML or with a template.', wordOf(['raw', 'templated']))
  type!: string;

  @Shown('The address of the sender; of raw emails.', text, { example: 'shop@example.com', optional: true })
  from?: string;

  @Shown('The subject line; of raw emails.', text, { example: 'Your receipt', optional: true })
  subject?: string;

  @Shown('The name of the template; of templated emails.', text, { optional: true })
  template?: string;

  @Shown('Under which analytics are grouped; only when it was given.', text, {
    example: 'order-receipts',
    optional: true,
  })
  groupBy?: string;
}

/** What a relay answered. */
class RelayReply {
  @Shown('The reply code (RFC 5321, section 4.2).', count, { example: 250 })
  code!: number;

  @Shown('The enhanced status code (RFC 3463), if it gave one.', text, { optional: true, example: '2.0.0' })
  enhancedCode?: string;

  @Shown('Its text, up to 512 characters.', text, { example: 'Ok: queued' })
  text!: string;
}

/** Something that happened to an email. */
class EmailTimelineEntry {
  @Shown('What happened.', text, { example: 'SENT' })
  event!: string;

  @Shown('When it was recorded.', time)
  createdAt!: Date;

  @Shown('The time to which it was moved.', time, { optional: true })
  sendAt?: string;

  @Shown('The number of the attempt, from 1.', count, { optional: true, example: 1 })
  attempt?: number;

  @Shown(
    'What was reported by mail that came back; absent where Posthorn saw it itself.',
    wordOf(REPORT_KIND_NAMES),
    {
      optional: true,
      example: 'failed',
    },
  )
  report?: string;

  @Shown('Which server or provider reported it.', text, { optional: true, example: 'mx.example.net' })
  reportedBy?: string;

  @Shown('What the relay answered, or the server that a report quotes.', objectOf(RelayReply), {
    optional: true,
    example: REPLY,
  })
  reply?: object;

  @Shown('What kind of answer that was; `sent` is that it was taken.', wordOf(REPLY_CLASS_NAMES), {
    optional: true,
    example: 'sent',
  })
  class?: string;

  @Shown('Which relay took, refused or lost it.', text, { optional: true, example: 'smtp.example.net:587' })
  relay?: string;

  @Shown('Where in the conversation with the relay it was refused or broke.', text, { optional: true })
  stage?: string;

  @Shown('What broke, where there was no reply.', text, { optional: true })
  error?: string;

  @Shown('Why it was given up, where no relay refused it.', text, { optional: true })
  reason?: string;

  @Shown('After how many seconds the next attempt is due.', count, { optional: true })
  retryAfterSeconds?: number;

  @Shown(
    'Who opened or clicked: a person, or a program that opens links and loads images by itself.',
    wordOf(['person', 'machine']),
    { optional: true },
  )
  by?: string;

  @Shown(
    'By what a program was known.',
    wordOf(['method', 'prefetch', 'user_agent', 'too_soon'] satisfies MachineSign[]),
    {
      optional: true,
    },
  )
  sign?: string;

  @Shown('Where the link leads that was clicked.', text, {
    optional: true,
    example: 'https://example.com/shop',
  })
  url?: string;

  @Shown('The SHA-256 of the bytes that were transmitted; the same at every attempt.', text, {
    optional: true,
    example: '696d629b7dff6b72b8f35fc54e363424f98d031b27d22967838c38a05ea6a8b2',
  })
  messageSha256?: string;

  @Shown('The release of Posthorn that did it.', text, { optional: true, example: RELEASE })
  release?: string;

  @Shown('True: the recipient may get the email more than once because of this.', truth, {
    optional: true,
  })
  duplicatePossible?: boolean;

  @Shown('True: the answer came when the email was in other hands already; it changed nothing.', truth, {
    optional: true,
  })
  late?: boolean;
}

/** An email with its times. */
export class EmailWithTimes extends Email {
  @Shown('When it was accepted.', time)
  createdAt!: Date;

  @Shown('When it was or is to be sent; `null` when that was at once.', nullable(time), { example: null })
  sendAt!: Date | null;

  @Shown('When the relay took it; `null` until then.', nullable(time))
  sentAt!: Date | null;
}

/** How often an email was opened and clicked, as far as it is tracked. */
class EmailEngagement {
  @Shown('How often people opened it.', count, { example: 2 })
  opens!: number;

  @Shown('How often people clicked a link of it.', count, { example: 1 })
  clicks!: number;

  @Shown('How often programs did what looks like opening it.', count, { example: 1 })
  machineOpens!: number;

  @Shown('How often programs followed a link of it.', count, { example: 0 })
  machineClicks!: number;

  @Shown('When a person first opened it; `null`: none has.', nullable(time))
  openedAt!: Date | null;

  @Shown('When a person first clicked a link of it; `null`: none has.', nullable(time))
  clickedAt!: Date | null;
}

/** An email with what has become of it. */
export class EmailWithTimeline extends EmailWithTimes {
  @Shown('How often it was opened and clicked.', objectOf(EmailEngagement))
  engagement!: EmailEngagement;

  @Shown('What happened to it, the oldest first, up to 500 entries.', listOf(EmailTimelineEntry))
  timeline!: object[];
}

/** The answer to an email that was accepted. */
export class EmailAcceptedAnswer {
  @Shown('The email.', objectOf(Email))
  email!: Email;
}

/** The answer that shows an email. */
export class EmailAnswer {
  @Shown('The email.', objectOf(EmailWithTimeline))
  email!: EmailWithTimeline;
}

/** What an email says, and the message that says it. */
export class EmailPreview {
  @Shown('The subject line.', text, { example: 'Your receipt' })
  subject!: string;

  @Shown('The HTML as it leaves, with the preview text hidden at its start.', text, {
    example: '<h1>Thank you!</h1>',
  })
  html!: string;

  @Shown('The plain text as it leaves; made from the HTML where none was given.', text, {
    example: 'Thank you!',
  })
  text!: string;

  @Shown('The whole message (RFC 5322), headers and all, as it is handed to the relay: its UTF-8.', text, {
    example: 'From: Shop <shop@example.com>\r\nTo: ada@example.com\r\nSubject: Your receipt\r\n…',
  })
  message!: string;

  @Shown('The length of the message in bytes.', count, { example: 1024 })
  bytes!: number;

  @Shown(
    'SHA-256 of the message. An attempt whose `messageSha256` in the timeline is the same transmitted exactly these bytes.',
    text,
    { example: '696d629b7dff6b72b8f35fc54e363424f98d031b27d22967838c38a05ea6a8b2' },
  )
  sha256!: string;
}

/** The answer that previews an email. */
export class EmailPreviewAnswer {
  @Shown('The preview.', objectOf(EmailPreview))
  preview!: EmailPreview;
}

/** A page of emails. */
export class EmailPage extends pageOf('The emails, in the order that was asked for.', EmailWithTimes) {}

/** The answer that lists emails. */
export class EmailsAnswer {
  @Shown('The page.', objectOf(EmailPage))
  emails!: EmailPage;
}
