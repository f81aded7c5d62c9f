import {
  isBeforeAnyEmail,
  type SmtpReply,
  type SmtpStage,
  type Transmission,
  type Verdict,
} from './delivery.ts';
import { classifyReply, replyClassOf } from './replies/classify-reply.ts';
import { REPLY_CLASSES } from './replies/reply-classes.ts';

type Refusal = Extract<Transmission, { kind: 'refused' }>;

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/**
 * The delay before the next attempt, in seconds, by the number of attempts recorded before. They add up to 71 h 51 min, because an
 * email is retried for at most three days (RFC 5321, section 4.5.4.1, recommends 4–5 days for mail between people; a password reset
 * that is three days old is of no use).
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

function decideAfterDisconnect(stage: SmtpStage, attempts: number): Verdict {
  return isBeforeAnyEmail(stage) ? { kind: 'relay_unavailable' } : retry(attempts, false);
}

function decideAfterRefusal(refusal: Refusal, attempts: number): Verdict {
  const { stage, reply, servesOthers, othersUnavailable } = refusal;
  if (othersUnavailable) return retry(attempts, false);
  // A code that is not a refusal says nothing about the email: treated like a connection that failed at this stage.
  if (!isPermanent(reply) && !isTransient(reply)) return decideAfterDisconnect(stage, attempts);
  const { status, suppresses, passes, retryNotBeforeSeconds } = REPLY_CLASSES[classifyReply(reply, stage)];
  // While others are served, not even a permanent reply is the end: whoever runs the relay can mend it.
  if (status === null) return servesOthers ? retry(attempts, false) : { kind: 'relay_unavailable' };
  if (isTransient(reply) || passes) return retry(attempts, false, retryNotBeforeSeconds);
  return status === 'BOUNCED' ? { kind: 'bounced', suppresses } : { kind: 'failed' };
}

/**
 * Decides what happens to an email after a transmission. The effect of each class of replies is in `REPLY_CLASSES`.
 *
 * @param transmission what the transport observed
 * @param attempts how many attempts were recorded before this one: 0 for the first
 */
export function decideAfterAttempt(transmission: Transmission, attempts: number): Verdict {
  switch (transmission.kind) {
    case 'accepted':
      return { kind: 'sent' };
    case 'refused':
      return decideAfterRefusal(transmission, attempts);
    case 'broken':
      return decideAfterDisconnect(transmission.stage, attempts);
    case 'unknown':
      return retry(attempts, true);
  }
}

/** Whether a transmission failed because of the relay, not the email: the relay's circuit breaker opens. */
export function isRelayFault(transmission: Transmission): boolean {
  return decideAfterAttempt(transmission, 0).kind === 'relay_unavailable';
}

/**
 * Whether the server says that it gets too many emails. At MAIL, that opens the breaker, too; but whatever is just being transmitted closes it again at once.
 */
export function isTooFast(transmission: Transmission): boolean {
  if (transmission.kind !== 'refused') return false;
  const { reply, stage } = transmission;
  return classifyReply(reply, stage === 'mail' ? 'rcpt' : stage) === 'rate_limited';
}

/**
 * Whether another relay may be tried at once: only if this one has certainly not accepted the email, because the connection failed before
 * the whole message was written or the relay closed it (421), because of a reply that may be about us, or because it was not asked.
 */
export function mayTryAnotherRelay(transmission: Transmission): boolean {
  switch (transmission.kind) {
    case 'broken':
      return true;
    case 'refused':
      return (
        transmission.unasked === true ||
        transmission.reply.code === 421 ||
        replyClassOf(transmission) === 'relay'
      );
    case 'accepted':
    case 'unknown':
      return false;
  }
}
