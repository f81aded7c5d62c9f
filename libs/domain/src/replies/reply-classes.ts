/** The effect of a class of replies. */
interface ReplyEffect {
  /** Its meaning, for people. */
  readonly meaning: string;
  /** The status of the email after a permanent reply (5xx); null: the reply is about the relay, not the email. */
  readonly status: 'SENT' | 'BOUNCED' | 'FAILED' | null;
  /** Whether a permanent reply puts the recipient on the suppression list (S19). */
  readonly suppresses: boolean;
  /** Whether the relay's permanent reply has the effect of a temporary one, because time cures it: a daily limit ends with the day. */
  readonly passes: boolean;
  /** The minimum delay before the next attempt after a temporary reply (4xx), whatever the retry table says. */
  readonly retryNotBeforeSeconds: number;
}

const MINUTE = 60;
const NO_EFFECT = { suppresses: false, passes: false, retryNotBeforeSeconds: 0 };
const refusal = (
  meaning: string,
  status: 'BOUNCED' | 'FAILED',
  effect: Partial<typeof NO_EFFECT> = {},
): ReplyEffect => ({ meaning, status, ...NO_EFFECT, ...effect });

/**
 * The effects of each class of replies on the email, its retries and the suppression list. The event of a status is `EMAIL_` and the
 * status, that of a retry `EMAIL_DELAYED`.
 */
export const REPLY_CLASSES = {
  sent: { meaning: 'the server took it', status: 'SENT', ...NO_EFFECT },
  unknown_user: refusal('there is no such recipient', 'BOUNCED', { suppresses: true }),
  hard_bounce: refusal(
    'the recipient cannot be reached: no such domain, closed, or refused permanently',
    'BOUNCED',
    {
      suppresses: true,
    },
  ),
  mailbox_full: refusal('the mailbox is full', 'BOUNCED', { retryNotBeforeSeconds: 30 * MINUTE }),
  soft_bounce: refusal('the receiving side cannot take it at the moment', 'BOUNCED'),
  rate_limited: refusal('too many emails in too short a time', 'FAILED', {
    passes: true,
    retryNotBeforeSeconds: 5 * MINUTE,
  }),
  blocked: refusal('the sender has a bad reputation or is on a block list', 'FAILED', {
    retryNotBeforeSeconds: 15 * MINUTE,
  }),
  policy: refusal(
    'a policy of the receiving side forbids it, such as authentication or permission',
    'FAILED',
  ),
  content: refusal('the message itself is refused: spam, a virus, a format that is not accepted', 'FAILED'),
  size: refusal('the message is too large', 'FAILED'),
  sender: refusal('the sender’s address is refused', 'FAILED'),
  relay: { meaning: 'the relay refuses us', status: null, ...NO_EFFECT },
} as const satisfies Record<string, ReplyEffect>;

export type ReplyClass = keyof typeof REPLY_CLASSES;

/** All classes, in the order of the documents. */
export const REPLY_CLASS_NAMES = Object.keys(REPLY_CLASSES) as ReplyClass[];
