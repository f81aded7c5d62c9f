import { hash } from 'node:crypto';
import { RELEASE } from '@posthorn/kernel';
import {
  bulkLane,
  decideAfterAttempt,
  replyClassOf,
  type SuppressionReason,
  type RelayedTransmission,
  type Verdict,
  type WithheldReason,
} from '@posthorn/domain';
import type { ClaimedEmail, EmailOutcome } from '@posthorn/database';

/** Why no message could be made of an email. */
export interface Unmade {
  /** A word for programs. */
  readonly reason: string;
  /** A sentence for people, if there is one to give. */
  readonly error?: string;
  /** Whether it would be so again. */
  readonly isLasting: boolean;
}

type Finished = Exclude<Verdict, { kind: 'relay_unavailable' }>;

/** Turns a transmission and its verdict into what is recorded. */
export function outcomeOf(
  email: ClaimedEmail,
  message: Buffer,
  transmission: RelayedTransmission,
  verdict: Finished,
): EmailOutcome {
  return {
    suppression: suppressionAfter(verdict),
    detail: {
      attempt: email.attempts + 1,
      messageSha256: hash('sha256', message),
      release: RELEASE,
      ...answerOf(transmission),
      ...(transmission.relay !== undefined && { relay: transmission.relay }),
      ...classOf(transmission),
      ...retryOf(verdict),
    },
    ...withVerdict(email, verdict),
    // Also when it is given up after that: the relay may have it.
    duplicatePossible: transmission.kind === 'unknown',
  };
}

/** The outcome of an email that no message could be made of: tried again by the same table as a network fault, or given up. */
export function outcomeWithoutMessage(
  email: ClaimedEmail,
  { reason, error, isLasting }: Unmade,
): EmailOutcome {
  const verdict = isLasting
    ? ({ kind: 'failed' } as const)
    : (decideAfterAttempt({ kind: 'broken', stage: 'content', error: reason }, email.attempts) as Finished);
  return {
    ...withVerdict(email, verdict),
    detail: {
      reason,
      ...(error && { error }),
      attempt: email.attempts + 1,
      ...retryOf(verdict),
      release: RELEASE,
    },
  };
}

/** The outcome of an email that is not sent, because of who its recipient is. */
export function outcomeWithheld(email: ClaimedEmail, reason: WithheldReason): EmailOutcome {
  const detail = { reason, release: RELEASE };
  return { ...finishedOf(email), kind: 'SUPPRESSED', status: 'SUPPRESSED', detail };
}

function finishedOf({ id, claims, workspaceId }: ClaimedEmail) {
  const laneId = bulkLane(workspaceId);
  return { id, workspaceId, claims, laneId, retryAfterMs: null, duplicatePossible: false };
}

function withVerdict(email: ClaimedEmail, verdict: Finished): Omit<EmailOutcome, 'detail'> {
  const finished = finishedOf(email);
  switch (verdict.kind) {
    case 'sent':
      return { kind: 'SENT', status: 'SENT', ...finished };
    case 'bounced':
      return { kind: 'BOUNCED', status: 'BOUNCED', ...finished };
    case 'failed':
      return { kind: 'FAILED', status: 'FAILED', ...finished };
    case 'retry':
      return {
        ...finished,
        kind: verdict.duplicatePossible ? 'REPLY_LOST' : 'DELAYED',
        status: null,
        retryAfterMs: verdict.afterSeconds * 1_000,
        duplicatePossible: verdict.duplicatePossible,
      };
  }
}

/** What its recipient is put on the suppression list for; null: it is not. */
function suppressionAfter(verdict: Finished): SuppressionReason | null {
  return verdict.kind === 'bounced' && verdict.suppresses ? 'HARD_BOUNCE' : null;
}

function retryOf(verdict: Finished): object {
  return verdict.kind === 'retry' ? { retryAfterSeconds: verdict.afterSeconds } : {};
}

function classOf(transmission: RelayedTransmission): object {
  const replyClass = replyClassOf(transmission);
  return replyClass === undefined ? {} : { class: replyClass };
}

function answerOf(transmission: RelayedTransmission): object {
  switch (transmission.kind) {
    case 'accepted':
      return { reply: transmission.reply };
    case 'refused':
      return { stage: transmission.stage, reply: transmission.reply };
    case 'broken':
      return { stage: transmission.stage, error: transmission.error };
    case 'unknown':
      return { error: transmission.error };
  }
}
