import { isBeforeAnyEmail, type SmtpReply, type SmtpStage, type Transmission } from '../delivery.ts';
import { emailFaultAtMail, MENTIONS_SENDER, MENTIONS_SESSION } from './refusals-at-mail.ts';
import { classOfEnhancedCode } from './enhanced-codes.ts';
import { knownReply } from './known-replies.ts';
import type { ReplyClass } from './reply-classes.ts';

/** Codes that determine the class by themselves (RFC 5321, section 4.2.3; RFC 4954; RFC 7504). */
const BY_CODE: Readonly<Record<number, ReplyClass>> = {
  521: 'hard_bounce', // a host that takes no mail
  530: 'relay', // AUTH, or STARTTLS, is required
  534: 'relay',
  535: 'relay',
  538: 'relay',
  551: 'unknown_user',
  556: 'hard_bounce', // a domain that takes no mail
};

/** The class of a permanent reply to RCPT with an unknown text, for codes about the mailbox; all other codes mean `policy`. */
const DEFAULT_AT_RCPT: Readonly<Record<number, ReplyClass>> = {
  550: 'hard_bounce',
  552: 'mailbox_full',
  553: 'hard_bounce',
};

/** RFC 3463, section 3.2: there is no such mailbox. */
const NO_SUCH_MAILBOX = '5.1.1';
/** RFC 3463, section 3.2: the domain does not exist. */
const NO_SUCH_DOMAIN = '5.1.2';
/** RFC 3463, section 3.5. */
const ROUTING_LOOP = '5.4.6';
/** RFC 3463, section 3.3. */
const MAILBOX_FULL = '5.2.2';

/** Names us: `Access denied - Invalid HELO name` (cPanel), `messages from 192.0.2.1 weren’t sent` (Outlook.com), `we do not relay`. */
const MENTIONS_HOST =
  /\b(helo|ehlo|rdns|relaying|(not|cannot) relay|your (account|domain|host|ip|server)|messages? from \[?\d{1,3}(\.\d{1,3}){3})\b/i;

/** What NTT Docomo and au say after the final dot of an email that the recipient's own filter refuses; of a mailbox that does not exist they say it at RCPT. */
const FILTERED_BY_RECIPIENT =
  /unknown user \S{1,320}@docomo\.ne\.jp|@(ezweb\.ne\.jp|au\.com)>: user unknown/i;

/** Stages at which a 421 can be about a recipient or a message, not only about the server closing the connection (RFC 5321, section 3.8). */
const STAGES_OF_421_ABOUT_EMAIL: readonly SmtpStage[] = ['rcpt', 'content'];

/**
 * Classifies a reply: by its enhanced code, else by its code, else by known texts, else by the stage. Four texts precede the
 * code: one about a rate that of a temporary reply or of a loop, one about our own account at the relay that of a full mailbox,
 * one about a full mailbox that of one that does not exist, and one about relaying that of a domain that does not exist.
 *
 * @param stage of the session; `rcpt` for a reply that is quoted by a delivery report, unless that says otherwise
 */
export function classifyReply(reply: SmtpReply, stage: SmtpStage): ReplyClass {
  if (reply.code >= 200 && reply.code <= 299) return 'sent';
  if (isBeforeAnyEmail(stage)) return 'relay';
  if (reply.code === 421 && !STAGES_OF_421_ABOUT_EMAIL.includes(stage)) return 'relay';
  if (stage === 'mail') return emailFaultAtMail(reply) ?? 'relay';
  if (stage === 'content' && FILTERED_BY_RECIPIENT.test(reply.text)) return 'policy';
  return byCodeOrText(reply) ?? byStage(reply, stage);
}

/** The class of the reply to a transmission; undefined: there was no reply. */
export function replyClassOf(transmission: Transmission): ReplyClass | undefined {
  switch (transmission.kind) {
    case 'accepted':
      return 'sent';
    case 'refused':
      return classifyReply(transmission.reply, transmission.stage);
    case 'broken':
    case 'unknown':
      return undefined;
  }
}

function byCodeOrText({ code, enhancedCode, text }: SmtpReply): ReplyClass | undefined {
  const byText = knownReply(text)?.class;
  // Servers say "too fast" with every temporary code, such as 4.3.2.
  if (code < 500 && byText === 'rate_limited') return byText;
  // Zoho says of an account that sends too much what others say of a loop.
  if (enhancedCode === ROUTING_LOOP && byText === 'rate_limited') return byText;
  // Exchange says of the mailbox that we log in with what others say of a recipient's.
  if (enhancedCode === MAILBOX_FULL && byText === 'relay') return byText;
  // Orange says of a full mailbox what others say of one that there is not, and Forpsi of a sender whom the recipient has blocked.
  if (enhancedCode === NO_SUCH_MAILBOX && (byText === 'mailbox_full' || byText === 'blocked')) return byText;
  // No code of a mailbox that does not exist, or has moved, says that it is full.
  if (code === 551 && byText === 'mailbox_full') return byText;
  // Stalwart says of every domain to which it does not relay what others say of one that does not exist.
  if (enhancedCode === NO_SUCH_DOMAIN && byText === 'policy') return byText;
  const byEnhancedCode = enhancedCode === undefined ? undefined : classOfEnhancedCode(enhancedCode);
  return byEnhancedCode ?? BY_CODE[code] ?? byText;
}

function byStage({ code, enhancedCode, text }: SmtpReply, stage: SmtpStage): ReplyClass {
  if (code < 500) return 'soft_bounce';
  // "Security or policy": the only subject that is never about the mailbox.
  if (enhancedCode?.startsWith('5.7.')) return 'policy';
  if (stage === 'rcpt') return aboutSenderAtRcpt(text) ?? DEFAULT_AT_RCPT[code] ?? 'policy';
  return code === 552 ? 'size' : 'content';
}

/** Many servers take any MAIL, and refuse a sender, a host, or one who is not logged in, only at RCPT: that says nothing about the recipient. */
function aboutSenderAtRcpt(text: string): ReplyClass | undefined {
  if (MENTIONS_SESSION.test(text) || MENTIONS_HOST.test(text)) return 'policy';
  return MENTIONS_SENDER.test(text) ? 'sender' : undefined;
}
