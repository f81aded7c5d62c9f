/** What a class of replies does to an email. */
interface ReplyEffect {
  /** What it says, for people. */
  readonly meaning: string;
  /** What the email becomes when the reply is permanent (5xx); null: the reply is not about the email but about the relay, or it is no refusal. */
  readonly status: 'SENT' | 'BOUNCED' | 'FAILED' | null;
  /** Whether a permanent one puts the recipient on the suppression list (S19). */
  readonly suppresses: boolean;
  /** The next try after a temporary one (4xx) is not due before this, whatever the retry table says. */
  readonly retryNotBeforeSeconds: number;
}

const MINUTE = 60;
const refusal = (
  meaning: string,
  status: 'BOUNCED' | 'FAILED',
  effect: Partial<Pick<ReplyEffect, 'suppresses' | 'retryNotBeforeSeconds'>> = {},
): ReplyEffect => ({ meaning, status, suppresses: false, retryNotBeforeSeconds: 0, ...effect });

/**
 * What each class of replies does to the email, to its retries, to the suppression list and to the events: the event of a status
 * is `EMAIL_` and the status, that of a retry `EMAIL_DELAYED`. The only place where any of that is decided.
 */
export const REPLY_CLASSES = {
  sent: { meaning: 'the server took it', status: 'SENT', suppresses: false, retryNotBeforeSeconds: 0 },
  unknown_user: refusal('there is no such recipient', 'BOUNCED', { suppresses: true }),
  hard_bounce: refusal(
    'the recipient cannot be reached at all: no such domain, closed, or refused for good',
    'BOUNCED',
    {
      suppresses: true,
    },
  ),
  mailbox_full: refusal('the mailbox is full', 'BOUNCED', { retryNotBeforeSeconds: 30 * MINUTE }),
  soft_bounce: refusal('the receiving side cannot take it just now', 'BOUNCED'),
  rate_limited: refusal('too many emails in too short a time', 'FAILED', {
    retryNotBeforeSeconds: 5 * MINUTE,
  }),
  blocked: refusal('who sends has a bad reputation or is on a block list', 'FAILED', {
    retryNotBeforeSeconds: 15 * MINUTE,
  }),
  policy: refusal(
    'a rule of the receiving side forbids it: authentication, permission, a rule of its own',
    'FAILED',
  ),
  content: refusal('the message itself is refused: spam, a virus, a form that is not taken', 'FAILED'),
  size: refusal('the message is too large', 'FAILED'),
  sender: refusal('the sender’s address is refused', 'FAILED'),
  relay: { meaning: 'the relay refuses us', status: null, suppresses: false, retryNotBeforeSeconds: 0 },
} as const satisfies Record<string, ReplyEffect>;

/** What kind of answer a server gave. */
export type ReplyClass = keyof typeof REPLY_CLASSES;

/** All classes, in the order of the documents. */
export const REPLY_CLASS_NAMES = Object.keys(REPLY_CLASSES) as ReplyClass[];

/** What a class of replies does. */
export function effectOf(replyClass: ReplyClass): ReplyEffect {
  return REPLY_CLASSES[replyClass];
}
