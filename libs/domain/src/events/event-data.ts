import { EMAIL_STATUSES, type EmailStatus } from '../email-status.ts';
import { REPLY_CLASS_NAMES, type ReplyClass } from '../replies/reply-classes.ts';
import {
  anyObjectShape,
  idShape,
  meaningsOf,
  numberShape,
  objectShape,
  textShape,
  timeShape,
  type ValueOf,
  wordShape,
} from './shapes.ts';

const CONTACT = objectShape('EventContact', 'The contact as it was then.', {
  id: idShape('ctc', 'The id of the contact.'),
  email: textShape(
    'The address as it was first given, its domain in lower case and punycode.',
    'ada@example.net',
  ),
  properties: anyObjectShape('What is known about the contact.', { firstName: 'Ada', lastName: 'Lovelace' }),
  createdAt: timeShape('When the contact was created.'),
  workspaceId: idShape('wrk', 'The workspace that it belongs to.'),
});

/** The data of events about a contact that was created, unsubscribed, resubscribed or deleted. */
export const CONTACT_DATA = objectShape('ContactEventData', 'Which contact it is about.', {
  contact: CONTACT,
});

/** The data of the event about a contact that was updated. */
export const CONTACT_UPDATED_DATA = objectShape('ContactUpdatedEventData', 'Which contact was updated.', {
  contact: CONTACT,
  changes: anyObjectShape(
    'The properties that changed, with their new values; `null` for one that is gone.',
    {
      lastName: 'Lovelace',
    },
  ),
});

/** The data of the event about a member who joined. */
export const MEMBER_JOINED_DATA = objectShape('MemberJoinedEventData', 'Who joined which workspace.', {
  workspace: objectShape('EventWorkspace', 'The workspace.', {
    id: idShape('wrk', 'The id of the workspace.'),
    name: textShape('What the workspace is called.', 'Acme'),
  }),
  user: objectShape('EventUser', 'The person.', {
    id: idShape('usr', 'The id of the person, the same in every workspace.'),
    email: textShape('The address of the person.', 'ada@example.net'),
    name: textShape('What the person is called.', 'Ada Lovelace'),
  }),
});

/** The email of its events and, with the same fields, of the answer to its sending. */
export const EVENT_EMAIL = objectShape(
  'EventEmail',
  'The email, as the answer to its sending shows it, with the status that it had then.',
  {
    id: idShape('trs', 'The id of the email.'),
    messageId: textShape(
      'The Message-ID that the email carries, without its angle brackets.',
      '01m7yxt5zwexraawhax4wxnnqq@example.com',
    ),
    status: wordShape(
      'EmailStatus',
      Object.keys(EMAIL_STATUSES) as EmailStatus[],
      meaningsOf(EMAIL_STATUSES),
      'SENT',
    ),
    to: textShape('The address of the recipient.', 'ada@example.net'),
    type: wordShape(
      'EmailType',
      ['raw', 'templated'],
      '`raw`: sent with its own HTML; `templated`: sent with a template.',
      'raw',
    ),
  },
  {
    from: textShape('The address of the sender; of raw emails.', 'shop@example.com'),
    subject: textShape('The subject line; of raw emails.', 'Your receipt'),
    template: textShape('The name of the template; of templated emails.', 'welcome'),
    groupBy: textShape('The group under which emails are counted; only if it was given.', 'order-receipts'),
  },
);

export type EventEmail = ValueOf<typeof EVENT_EMAIL>;

/** The data of events about an email. */
export const EMAIL_DATA = objectShape('EmailEventData', 'Which email it is about.', { email: EVENT_EMAIL });

const REPLY = objectShape(
  'EventReply',
  'What the server answered.',
  {
    code: numberShape('Its code (RFC 5321, section 4.2).', 550),
    text: textShape('Its text, up to 512 characters.', 'No such user here'),
  },
  { enhancedCode: textShape('Its enhanced code (RFC 3463).', '5.1.1') },
);

/** The data of events about an email that was refused, delayed or given up. */
export const EMAIL_REFUSED_DATA = objectShape(
  'EmailRefusedEventData',
  'Which email it is about, and why.',
  { email: EVENT_EMAIL },
  {
    class: wordShape<ReplyClass>(
      'ReplyClass',
      REPLY_CLASS_NAMES,
      'What kind of answer the server gave; absent where it gave none.',
      'unknown_user',
    ),
    reason: textShape('Why, in a word, where no server refused it.', 'worker_died'),
    reply: REPLY,
  },
);

/** The data of the event about a click. */
export const EMAIL_CLICKED_DATA = objectShape(
  'EmailClickedEventData',
  'Which email it is about, and which link.',
  { email: EVENT_EMAIL },
  { url: textShape('Where the link leads that was clicked.', 'https://example.com/shop') },
);
