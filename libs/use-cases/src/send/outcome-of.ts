import { hash } from 'node:crypto';
import { RELEASE } from '@posthorn/kernel';
import {
  decideAfterAttempt,
  replyClassOf,
  retryLaneOf,
  type RelayedTransmission,
  type Verdict,
  type WithheldReason,
} from '@posthorn/domain';
import type { ClaimedEmail, EmailOutcome } from '@posthorn/database';

/** Why an email could not be composed. */
export interface CompositionFailure {
  /** A machine-readable word. */
  readonly reason: string;
  /** A sentence for people, if any. */
  readonly error?: string;
  /** Whether a retry would fail in the same way. */
  readonly isLasting: boolean;
}

type Decided = Exclude<Verdict, { kind: 'relay_unavailable' }>;

/** The outcome to record for a transmission and its verdict. */
export function outcomeOf(
  email: ClaimedEmail,
  message: Buffer,
  transmission: RelayedTransmission,
  verdict: Decided,
): EmailOutcome {
  return {
    detail: {
      attempt: email.attempts + 1,
      messageSha256: hash('sha256', message),
      release: RELEASE,
      ...replyDetail(transmission),
      relay: transmission.relay,
      class: replyClassOf(transmission),
      ...retryDetail(verdict),
    },
    ...verdictOutcome(email, verdict),
    // Also when the email is given up after that: the relay may have accepted it.
    duplicatePossible: transmission.kind === 'unknown',
  };
}

/** The outcome of an email that could not be composed: retried on the same schedule as network faults, or given up. */
export function outcomeWithoutMessage(
  email: ClaimedEmail,
  { reason, error, isLasting }: CompositionFailure,
): EmailOutcome {
  const verdict = isLasting
    ? ({ kind: 'failed' } as const)
    : (decideAfterAttempt({ kind: 'broken', stage: 'content', error: reason }, email.attempts) as Decided);
  return {
    ...verdictOutcome(email, verdict),
    detail: {
      reason,
      error,
      attempt: email.attempts + 1,
      ...retryDetail(verdict),
      release: RELEASE,
    },
  };
}

/** The outcome of an email that is not sent because its recipient is suppressed or unsubscribed. */
export function outcomeWithheld(email: ClaimedEmail, reason: WithheldReason): EmailOutcome {
  const detail = { reason, release: RELEASE };
  return { ...baseOutcome(email), kind: 'SUPPRESSED', status: 'SUPPRESSED', detail };
}

function baseOutcome({ id, claims, workspaceId, laneId: claimedIn }: ClaimedEmail) {
  const laneId = retryLaneOf(claimedIn);
  return { id, workspaceId, claims, laneId, retryAfterMs: null, duplicatePossible: false, suppression: null };
}

function verdictOutcome(email: ClaimedEmail, verdict: Decided): Omit<EmailOutcome, 'detail'> {
  const finished = baseOutcome(email);
  switch (verdict.kind) {
    case 'sent':
      return { kind: 'SENT', status: 'SENT', ...finished };
    case 'bounced':
      return {
        ...finished,
        kind: 'BOUNCED',
        status: 'BOUNCED',
        suppression: verdict.suppresses ? 'HARD_BOUNCE' : null,
      };
    case 'failed':
      return { kind: 'FAILED', status: 'FAILED', ...finished };
    case 'retry':
      return {
        ...finished,
        kind: verdict.duplicatePossible ? 'REPLY_LOST' : 'DELAYED',
        status: null,
        retryAfterMs: verdict.afterSeconds * 1_000,
      };
  }
}

function retryDetail(verdict: Decided): object {
  return verdict.kind === 'retry' ? { retryAfterSeconds: verdict.afterSeconds } : {};
}

function replyDetail(transmission: RelayedTransmission): object {
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
