import type { SmtpReply, SmtpStage, Transmission, Verdict } from './delivery.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/**
 * After how long the next try is due, in seconds, by the number of answers recorded before. Its sum, 71 h 51 min, is the
 * last step that stays within the three days that an email is tried for (RFC 5321, section 4.5.4.1, asks for 4–5 days of
 * a queue for mail between people; a password reset that is three days old helps nobody).
 */
export const RETRY_AFTER_SECONDS: readonly number[] = [
  ...[1, 5, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 4, 8, 8, 8, 8, 8, 8, 8, 8].map((hours) => hours * HOUR),
];

/** Whom an answer is about, by the stage that it was given at. At MAIL it depends on the reply. */
const SUBJECT_OF_STAGE: Readonly<Record<SmtpStage, 'relay' | 'reply decides' | 'recipient' | 'message'>> = {
  connect: 'relay',
  greeting: 'relay',
  ehlo: 'relay',
  starttls: 'relay',
  auth: 'relay',
  mail: 'reply decides',
  rcpt: 'recipient',
  data: 'message',
  content: 'message',
};

const NAMES_SIZE = /\b(size|too (large|big|long)|exceed(s|ed)?)\b/i;
const NAMES_SENDER =
  /\b(sender(?!'?s? (ip|host|server|network))|from address|mail from|(return|reverse)[- ]path|envelope[- ]from)\b/i;
/** "Sender address rejected: not logged in" is about our session with the relay, not about the sender. */
const NAMES_SESSION = /\b(authenticat\w*|log(ged)?[- ]?(in|on)|credentials|starttls)\b/i;

interface MailRefusal {
  readonly codes?: readonly number[];
  readonly enhancedCode?: RegExp;
  readonly text?: RegExp;
}

/**
 * The refusals at MAIL that are about this email (RFC 3463, section 3; RFC 1870, section 6); any other is about the relay.
 * The temporary ones among them too: one sender's domain that cannot be looked up must not hold everybody's mail back.
 */
const ABOUT_THE_EMAIL_AT_MAIL: readonly MailRefusal[] = [
  { enhancedCode: /^[45]\.1\.[78]$/ }, // the sender's address or system
  { enhancedCode: /^[45]\.(2\.3|3\.4)$/ }, // the size
  { codes: [550, 551, 553, 554], enhancedCode: /^5\.7\.\d+$/, text: NAMES_SENDER },
  { codes: [552], text: NAMES_SIZE },
  { codes: [550, 552, 553], text: NAMES_SENDER },
];

function matches(reply: SmtpReply, refusal: MailRefusal): boolean {
  const { codes, enhancedCode, text } = refusal;
  if (codes !== undefined && !codes.includes(reply.code)) return false;
  if (enhancedCode !== undefined && !enhancedCode.test(reply.enhancedCode ?? '')) return false;
  return text === undefined || (text.test(reply.text) && !NAMES_SESSION.test(reply.text));
}

const isPermanent = (reply: SmtpReply): boolean => reply.code >= 500 && reply.code <= 599;
const isTransient = (reply: SmtpReply): boolean => reply.code >= 400 && reply.code <= 499;

function retry(attempts: number, duplicatePossible: boolean): Verdict {
  const afterSeconds = RETRY_AFTER_SECONDS[attempts];
  return afterSeconds === undefined ? { kind: 'failed' } : { kind: 'retry', afterSeconds, duplicatePossible };
}

function decideAfterBreak(stage: SmtpStage, attempts: number): Verdict {
  return SUBJECT_OF_STAGE[stage] === 'relay' ? { kind: 'relay_unavailable' } : retry(attempts, false);
}

function decideAfterRefusal(stage: SmtpStage, reply: SmtpReply, attempts: number): Verdict {
  // A code that is no refusal says nothing about the email: as if the connection had failed here.
  if (!isPermanent(reply) && !isTransient(reply)) return decideAfterBreak(stage, attempts);
  // 421 says that the server goes away (RFC 5321, section 3.8), unless it answers for a recipient or a message.
  if (reply.code === 421 && stage !== 'rcpt' && stage !== 'content') return { kind: 'relay_unavailable' };
  switch (SUBJECT_OF_STAGE[stage]) {
    case 'relay':
      return { kind: 'relay_unavailable' };
    case 'reply decides': {
      if (!ABOUT_THE_EMAIL_AT_MAIL.some((refusal) => matches(reply, refusal)))
        return { kind: 'relay_unavailable' };
      return isPermanent(reply) ? { kind: 'failed' } : retry(attempts, false);
    }
    case 'recipient':
      return isPermanent(reply) ? { kind: 'bounced' } : retry(attempts, false);
    case 'message':
      return isPermanent(reply) ? { kind: 'failed' } : retry(attempts, false);
  }
}

/**
 * What is to be done with an email after one transmission of it.
 *
 * @param transmission what the transport saw
 * @param attempts how many answers had been recorded before this one: 0 for the first
 */
export function decideAfterAttempt(transmission: Transmission, attempts: number): Verdict {
  switch (transmission.kind) {
    case 'accepted':
      return { kind: 'sent' };
    case 'refused':
      return decideAfterRefusal(transmission.stage, transmission.reply, attempts);
    case 'broken':
      return decideAfterBreak(transmission.stage, attempts);
    case 'unknown':
      return retry(attempts, true);
  }
}
