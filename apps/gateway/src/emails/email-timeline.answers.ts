import type { EmailRecord } from '@posthorn/database';
import { RELEASE } from '@posthorn/kernel';
import { type MachineSign, REPLY_CLASS_NAMES, REPORT_KIND_NAMES, SMTP_STAGES } from '@posthorn/domain';
import { count, nullable, objectOf, text, time, bool, wordOf } from '../openapi/answer-schemas.ts';
import { AnswerField, AnswerWord } from '../openapi/answer-field.ts';

const REPLY = { code: 250, enhancedCode: '2.0.0', text: '2.0.0 Ok: queued as 4bQz7' };

type TimelineEvent = 'ACCEPTED' | 'SCHEDULED' | EmailRecord['timeline'][number]['kind'];

/** What can happen to an email. */
const TIMELINE_EVENTS: Readonly<Record<TimelineEvent, string>> = {
  ACCEPTED: 'accepted, to be sent at once',
  SCHEDULED: 'accepted, to be sent at its `sendAt`',
  SENT: 'the relay took it',
  DELAYED:
    'refused temporarily, the connection broke, or it could not be rendered in time; it is tried again',
  REPLY_LOST: 'transmitted completely, but the answer of the relay did not arrive; it is tried again',
  WORKER_DIED:
    'the process that had claimed it died or lost the database, or a restored backup had it due; it is tried again',
  BOUNCED: 'the recipient was refused permanently',
  FAILED: 'refused permanently for another reason, or given up',
  SUPPRESSED: 'not sent, because its recipient is suppressed or has unsubscribed',
  DELIVERED: 'a report says that the receiving server accepted it',
  COMPLAINED: 'a report says that the recipient marked it as spam',
  UNRECOGNISED: 'mail was returned that is not recognised, such as an out-of-office reply',
  RESCHEDULED: 'moved to another `sendAt`',
  CANCELLED: 'cancelled before it was claimed for sending',
  OPENED: 'its tracking image was loaded',
  CLICKED: 'one of its links was followed',
};

/** What a relay answered. */
class RelayReply {
  @AnswerField('The reply code (RFC 5321, section 4.2).', count, { example: 250 })
  code!: number;

  @AnswerField('The enhanced status code (RFC 3463), if it gave one.', text, {
    optional: true,
    example: '2.0.0',
  })
  enhancedCode?: string;

  @AnswerField('Its text, up to 512 characters.', text, { example: 'Ok: queued' })
  text!: string;
}

/** Something that happened to an email. */
export class EmailTimelineEntry {
  @AnswerWord('TimelineEvent', TIMELINE_EVENTS, { example: 'SENT' })
  event!: TimelineEvent;

  @AnswerField('When it was recorded.', time)
  createdAt!: Date;

  @AnswerField('The time to which it was moved.', time, { optional: true })
  sendAt?: string;

  @AnswerField('The number of the attempt, from 1.', count, { optional: true, example: 1 })
  attempt?: number;

  @AnswerField(
    'What was reported, by returned mail or a call; absent if Posthorn observed it itself.',
    wordOf('ReportKind', REPORT_KIND_NAMES),
    {
      optional: true,
      example: 'failed',
    },
  )
  report?: string;

  @AnswerField('Which server or provider reported it.', text, { optional: true, example: 'mx.example.net' })
  reportedBy?: string;

  @AnswerField('What the relay answered, or the server that a report quotes.', objectOf(RelayReply), {
    optional: true,
    example: REPLY,
  })
  reply?: object;

  @AnswerField(
    'What kind of answer that was; `sent`: the email was accepted.',
    wordOf('ReplyClass', REPLY_CLASS_NAMES),
    {
      optional: true,
      example: 'sent',
    },
  )
  class?: string;

  @AnswerField('Which relay took, refused or lost it.', text, {
    optional: true,
    example: 'smtp.example.net:587',
  })
  relay?: string;

  @AnswerField(
    'The stage of the SMTP dialogue at which it was refused or the connection broke.',
    wordOf('SmtpStage', SMTP_STAGES),
    { optional: true },
  )
  stage?: string;

  @AnswerField('What broke, if there was no reply, or why it could not be rendered.', text, {
    optional: true,
  })
  error?: string;

  @AnswerField('Why, in a word, if no server refused it.', text, { optional: true })
  reason?: string;

  @AnswerField('After how many seconds the next attempt is due.', count, { optional: true })
  retryAfterSeconds?: number;

  @AnswerField(
    'Who opened or clicked: a person, or a program that opens links and loads images by itself.',
    wordOf('EngagementActor', ['person', 'machine']),
    { optional: true },
  )
  by?: string;

  @AnswerField(
    'How a program was recognised.',
    wordOf('MachineSign', ['method', 'prefetch', 'user_agent', 'too_soon'] satisfies MachineSign[]),
    { optional: true },
  )
  sign?: string;

  @AnswerField('The target of the clicked link.', text, {
    optional: true,
    example: 'https://example.com/shop',
  })
  url?: string;

  @AnswerField(
    'The SHA-256 of the message of this attempt; attempts with the same one have the same bytes.',
    text,
    {
      optional: true,
      example: '696d629b7dff6b72b8f35fc54e363424f98d031b27d22967838c38a05ea6a8b2',
    },
  )
  messageSha256?: string;

  @AnswerField('The release of Posthorn that recorded it.', text, { optional: true, example: RELEASE })
  release?: string;

  @AnswerField(
    'True: the recipient may get the email more than once because of this; one that is `FAILED` or `CANCELLED` may have arrived all the same.',
    bool,
    { optional: true },
  )
  duplicatePossible?: boolean;

  @AnswerField(
    'True: it was recorded after another process had claimed the email, or after its status was final; it changed only the timeline.',
    bool,
    { optional: true },
  )
  late?: boolean;
}

/** The timeline of an email that the relay accepted at the first attempt. */
export const TIMELINE_EXAMPLE = [
  { event: 'ACCEPTED', createdAt: '2030-01-31T09:30:00.000Z' },
  {
    event: 'SENT',
    createdAt: '2030-01-31T09:30:00.420Z',
    class: 'sent',
    relay: 'smtp.example.net:587',
    reply: REPLY,
    attempt: 1,
    release: RELEASE,
    messageSha256: '696d629b7dff6b72b8f35fc54e363424f98d031b27d22967838c38a05ea6a8b2',
  },
];

/** How often an email was opened and clicked, as far as it is tracked. */
export class EmailEngagement {
  @AnswerField('How often people opened it.', count, { example: 2 })
  opens!: number;

  @AnswerField('How often people clicked a link in it.', count, { example: 1 })
  clicks!: number;

  @AnswerField('How often programs loaded its tracking image.', count, { example: 1 })
  machineOpens!: number;

  @AnswerField('How often programs followed a link in it.', count, { example: 0 })
  machineClicks!: number;

  @AnswerField('When a person first opened it; `null`: none has.', nullable(time))
  openedAt!: Date | null;

  @AnswerField('When a person first clicked a link in it; `null`: none has.', nullable(time))
  clickedAt!: Date | null;
}
