import type { SmtpReply } from '../delivery.ts';
import type { ReplyClass } from './reply-classes.ts';

const MENTIONS_SIZE = /\b(size|too (large|big|long)|exceed(s|ed)?)\b/i;
export const MENTIONS_SENDER =
  /\b(sender(?!'?s? (ip|host|server|network))|from address|mail from|(return|reverse)[- ]path|envelope[- ]from)\b/i;
/** "Sender address rejected: not logged in" is about our session, not about the sender. */
export const MENTIONS_SESSION = /\b((un)?authenticat\w*|log(ged)?[- ]?(in|on)|credentials|starttls)\b/i;

interface MailFault {
  readonly class: ReplyClass;
  readonly codes?: readonly number[];
  readonly enhancedCode?: RegExp;
  readonly text?: RegExp;
}

/**
 * The refusals at MAIL that are about the email (RFC 3463, section 3; RFC 1870, section 6); all others are about the relay. They include
 * temporary ones: a sender domain that cannot be looked up must not block all emails.
 */
const EMAIL_FAULTS_AT_MAIL: readonly MailFault[] = [
  { class: 'sender', enhancedCode: /^[45]\.1\.[78]$/ },
  { class: 'size', enhancedCode: /^[45]\.(2\.3|3\.4)$/ },
  { class: 'content', enhancedCode: /^5\.6\.7$/ }, // it needs SMTPUTF8
  { class: 'sender', codes: [550, 551, 553, 554], enhancedCode: /^5\.7\.\d+$/, text: MENTIONS_SENDER },
  { class: 'size', codes: [552], text: MENTIONS_SIZE },
  { class: 'sender', codes: [550, 552, 553], text: MENTIONS_SENDER },
];

/** The class of a refusal at MAIL that is about the email; undefined: it is about the relay. */
export function emailFaultAtMail(reply: SmtpReply): ReplyClass | undefined {
  return EMAIL_FAULTS_AT_MAIL.find((refusal) => matches(reply, refusal))?.class;
}

function matches(reply: SmtpReply, refusal: MailFault): boolean {
  const { codes, enhancedCode, text } = refusal;
  if (codes !== undefined && !codes.includes(reply.code)) return false;
  if (enhancedCode !== undefined && !enhancedCode.test(reply.enhancedCode ?? '')) return false;
  return text === undefined || (text.test(reply.text) && !MENTIONS_SESSION.test(reply.text));
}
