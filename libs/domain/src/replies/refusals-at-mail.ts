import type { SmtpReply } from '../delivery.ts';
import type { ReplyClass } from './reply-classes.ts';

const NAMES_SIZE = /\b(size|too (large|big|long)|exceed(s|ed)?)\b/i;
const NAMES_SENDER =
  /\b(sender(?!'?s? (ip|host|server|network))|from address|mail from|(return|reverse)[- ]path|envelope[- ]from)\b/i;
/** "Sender address rejected: not logged in" is about our session with the relay, not about the sender. */
const NAMES_SESSION = /\b(authenticat\w*|log(ged)?[- ]?(in|on)|credentials|starttls)\b/i;

interface MailRefusal {
  readonly class: ReplyClass;
  readonly codes?: readonly number[];
  readonly enhancedCode?: RegExp;
  readonly text?: RegExp;
}

/**
 * The refusals at MAIL that are about this email (RFC 3463, section 3; RFC 1870, section 6); any other is about the relay.
 * The temporary ones among them too: one sender's domain that cannot be looked up must not hold everybody's mail back.
 */
const ABOUT_THE_EMAIL_AT_MAIL: readonly MailRefusal[] = [
  { class: 'sender', enhancedCode: /^[45]\.1\.[78]$/ },
  { class: 'size', enhancedCode: /^[45]\.(2\.3|3\.4)$/ },
  { class: 'content', enhancedCode: /^5\.6\.7$/ }, // it needs SMTPUTF8
  { class: 'sender', codes: [550, 551, 553, 554], enhancedCode: /^5\.7\.\d+$/, text: NAMES_SENDER },
  { class: 'size', codes: [552], text: NAMES_SIZE },
  { class: 'sender', codes: [550, 552, 553], text: NAMES_SENDER },
];

/** The class of a refusal at MAIL that is about this email; undefined: it is about the relay. */
export function aboutTheEmailAtMail(reply: SmtpReply): ReplyClass | undefined {
  return ABOUT_THE_EMAIL_AT_MAIL.find((refusal) => matches(reply, refusal))?.class;
}

function matches(reply: SmtpReply, refusal: MailRefusal): boolean {
  const { codes, enhancedCode, text } = refusal;
  if (codes !== undefined && !codes.includes(reply.code)) return false;
  if (enhancedCode !== undefined && !enhancedCode.test(reply.enhancedCode ?? '')) return false;
  return text === undefined || (text.test(reply.text) && !NAMES_SESSION.test(reply.text));
}
