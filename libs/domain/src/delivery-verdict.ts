import {
  isBeforeAnyEmail,
  type SmtpReply,
  type SmtpStage,
  type Transmission,
  type Verdict,
} from './delivery.ts';
import { classifyReply } from './replies/classify-reply.ts';
import { effectOf } from './replies/reply-classes.ts';

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

const isPermanent = (reply: SmtpReply): boolean => reply.code >= 500 && reply.code <= 599;
const isTransient = (reply: SmtpReply): boolean => reply.code >= 400 && reply.code <= 499;

function retry(attempts: number, duplicatePossible: boolean, notBeforeSeconds = 0): Verdict {
  const step = RETRY_AFTER_SECONDS[attempts];
  if (step === undefined) return { kind: 'failed' };
  return { kind: 'retry', afterSeconds: Math.max(step, notBeforeSeconds), duplicatePossible };
}

function decideAfterBreak(stage: SmtpStage, attempts: number): Verdict {
  return isBeforeAnyEmail(stage) ? { kind: 'relay_unavailable' } : retry(attempts, false);
}

function decideAfterRefusal(stage: SmtpStage, reply: SmtpReply, attempts: number): Verdict {
  // A code that is no refusal says nothing about the email: as if the connection had failed here.
  if (!isPermanent(reply) && !isTransient(reply)) return decideAfterBreak(stage, attempts);
  const { status, suppresses, retryNotBeforeSeconds } = effectOf(classifyReply(reply, stage));
  if (status === null) return { kind: 'relay_unavailable' };
  if (isTransient(reply)) return retry(attempts, false, retryNotBeforeSeconds);
  return status === 'BOUNCED' ? { kind: 'bounced', suppresses } : { kind: 'failed' };
}

/**
 * What is to be done with an email after one transmission of it. What a class of replies does is in `REPLY_CLASSES`.
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

/** Whether a transmission says something about the relay and nothing about the email: its breaker opens. */
export function isAboutRelay(transmission: Transmission): boolean {
  return decideAfterAttempt(transmission, 0).kind === 'relay_unavailable';
}

/**
 * Whether another relay may be asked at once: this one has proven that it accepted nothing, by failing before the message was written to
 * its end or by going away (421), and has said nothing about the email. Never when it may have the email.
 */
export function mayAskAnotherRelay(transmission: Transmission): boolean {
  switch (transmission.kind) {
    case 'broken':
      return true;
    case 'refused':
      return transmission.reply.code === 421 || isAboutRelay(transmission);
    case 'accepted':
    case 'unknown':
      return false;
  }
}
