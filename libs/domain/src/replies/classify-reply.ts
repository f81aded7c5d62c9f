import { isBeforeAnyEmail, type SmtpReply, type SmtpStage, type Transmission } from '../delivery.ts';
import { aboutTheEmailAtMail } from './refusals-at-mail.ts';
import { classOfEnhancedCode } from './enhanced-codes.ts';
import { knownReply } from './known-replies.ts';
import type { ReplyClass } from './reply-classes.ts';

/** Codes that say enough by themselves (RFC 5321, section 4.2.3; RFC 4954; RFC 7504). */
const BY_CODE: Readonly<Record<number, ReplyClass>> = {
  521: 'hard_bounce', // a host that takes no mail
  530: 'relay', // AUTH, or STARTTLS, is required
  534: 'relay',
  535: 'relay',
  538: 'relay',
  551: 'unknown_user',
  556: 'hard_bounce', // a domain that takes no mail
};

/** What a permanent reply to RCPT is whose words nobody knows: codes of the mailbox mean the mailbox, all others a rule. */
const UNKNOWN_AT_RCPT: Readonly<Record<number, ReplyClass>> = {
  550: 'hard_bounce',
  552: 'mailbox_full',
  553: 'hard_bounce',
};

/** Stages at which a 421 answers for a recipient or a message, and does not only say that the server goes away (RFC 5321, section 3.8). */
const ANSWERED_BY_421: readonly SmtpStage[] = ['rcpt', 'content'];

/**
 * What kind of answer a reply is: by its enhanced code if that says enough, then by its code, then by the words that are known, and
 * else by the stage that it was given at.
 *
 * @param stage where in the dialogue it came; for what a delivery report quotes, `rcpt`
 */
export function classifyReply(reply: SmtpReply, stage: SmtpStage): ReplyClass {
  if (reply.code >= 200 && reply.code <= 299) return 'sent';
  if (isBeforeAnyEmail(stage)) return 'relay';
  if (reply.code === 421 && !ANSWERED_BY_421.includes(stage)) return 'relay';
  if (stage === 'mail') return aboutTheEmailAtMail(reply) ?? 'relay';
  return bySigns(reply) ?? byStage(reply, stage);
}

/** The class of what a server answered; undefined: it did not answer. */
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

function bySigns({ code, enhancedCode, text }: SmtpReply): ReplyClass | undefined {
  const byEnhancedCode = enhancedCode === undefined ? undefined : classOfEnhancedCode(enhancedCode);
  return byEnhancedCode ?? BY_CODE[code] ?? knownReply(text)?.class;
}

function byStage({ code, enhancedCode }: SmtpReply, stage: SmtpStage): ReplyClass {
  if (code < 500) return 'soft_bounce';
  // "Security or policy": of all subjects the one that is never about the mailbox.
  if (enhancedCode?.startsWith('5.7.')) return 'policy';
  if (stage === 'rcpt') return UNKNOWN_AT_RCPT[code] ?? 'policy';
  return code === 552 ? 'size' : 'content';
}
