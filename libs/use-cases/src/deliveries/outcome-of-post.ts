import { beginningOf } from '@posthorn/kernel';
import {
  decideAfterPost,
  restAfter,
  changeAfter,
  type PostErrorClass,
  type PostVerdict,
  type ReceiverObservation,
} from '@posthorn/domain';
import type {
  ClaimedDelivery,
  DeliveryOutcome,
  OwnFault,
  Receiver,
  ReceiverReport,
} from '@posthorn/database';
import type { PostResult } from '@posthorn/webhooks';

/** A receiver that takes longer than this is slow. */
export const SLOW_MS = 2_000;
const MAX_REASON_CHARACTERS = 1_000;
/** A fault of ours that kept a delivery from being posted. */
interface Fault {
  /** The delay before the retry. */
  readonly afterMs: number;
  /** A sentence for the people of the workspace. */
  readonly reason: string;
}

/** Most faults of ours end by themselves, or an operator ends them. */
const PASSING: Fault = {
  afterMs: 30_000,
  reason: 'a fault of the service kept it from being posted; it will be, soon',
};
/** Ends only when the webhook is given another token, or the operator finds the key. Until then each delivery of the webhook is claimed again and again. */
export const TOKEN_LOST: Fault = {
  afterMs: 5 * 60_000,
  reason:
    'the token of the webhook cannot be decrypted, so nothing can be signed; give the webhook another token, and it will be posted within minutes',
};

/** How a receiver has responded to a POST; `throttled`: it gets too many requests, and nothing more should be posted to it for so long. */
export type Responsiveness =
  | { readonly kind: 'answering' }
  | { readonly kind: 'silent' }
  | { readonly kind: 'throttled'; readonly restMs: number };

// Not made anew for each delivery.
const ANSWERING: Responsiveness = { kind: 'answering' };
const SILENT: Responsiveness = { kind: 'silent' };

/** The outcome of a delivery, with what it says about the receiver. */
export interface OutcomeWithReport extends DeliveryOutcome {
  /** A fault of ours that kept the delivery from being posted, if any. */
  readonly ownFault?: OwnFault;
  /** Null: nothing new about the receiver. */
  readonly report: ReceiverReport | null;
  /** Null: nothing was posted. */
  readonly responsiveness: Responsiveness | null;
}

interface PostMoment {
  readonly now: Date;
  /** From 0 to 1. */
  readonly random: number;
  /** Whether the step that gave the result (the DNS look-up, or everything after it) was slow. */
  readonly wasSlow: boolean;
}

/** The outcome to record for the result of a POST. */
export function outcomeOfPost(
  delivery: ClaimedDelivery,
  receiver: Receiver,
  result: PostResult,
  { now, random, wasSlow }: PostMoment,
): OutcomeWithReport {
  const verdict = decideAfterPost(result, { attempts: delivery.attempts, random, now });
  if (verdict.kind === 'postponed')
    return postponed(delivery, { ...PASSING, afterMs: verdict.afterSeconds * 1_000 }, result.durationMs);
  const responsiveness = responsivenessOf(result, now);
  const isThrottled = responsiveness.kind === 'throttled';
  return {
    responsiveness,
    attempt: {
      number: delivery.attemptsMade + 1,
      durationMs: result.durationMs,
      errorClass: errorClassOf(verdict),
      ...(result.kind === 'answered'
        ? { statusCode: result.status, headers: result.headers, body: result.body }
        : { reason: beginningOf(result.reason, MAX_REASON_CHARACTERS) }),
    },
    report: reportOf(delivery, receiver, observationOf(verdict, result, wasSlow || isThrottled), now),
    ...afterVerdict(delivery, verdict),
  };
}

/** The outcome when the webhook was deleted. */
export function cancelled(delivery: ClaimedDelivery): OutcomeWithReport {
  return { ...finished(delivery, 'CANCELLED'), attempt: null, report: null, responsiveness: null };
}

/** The outcome after a fault of ours: it counts neither as an attempt nor as a step of the retry schedule. */
export function postponed(
  delivery: ClaimedDelivery,
  { afterMs, reason }: Fault = PASSING,
  durationMs = 0,
): OutcomeWithReport {
  const { id, claims, attempts, attemptsMade } = delivery;
  return {
    ...waiting(delivery, afterMs, attempts),
    attempt: null,
    report: null,
    responsiveness: null,
    ownFault: { id, claims, number: attemptsMade + 1, reason, durationMs },
  };
}

type Decided = Exclude<PostVerdict, { kind: 'postponed' }>;
type WithoutAttempt = Omit<DeliveryOutcome, 'attempt'>;

function afterVerdict(delivery: ClaimedDelivery, verdict: Decided): WithoutAttempt {
  switch (verdict.kind) {
    case 'succeeded':
      return finished(delivery, 'SUCCEEDED');
    case 'exhausted':
      return finished(delivery, 'EXHAUSTED');
    case 'retry':
      return waiting(delivery, verdict.afterSeconds * 1_000, delivery.attempts + 1);
    case 'gone':
      // On hold with its webhook, which is disabled now; if that is re-enabled, the retry schedule starts anew.
      return waiting(delivery, 0, 0);
  }
}

function finished(
  { id, claims, laneId }: ClaimedDelivery,
  status: DeliveryOutcome['status'],
): WithoutAttempt {
  return { id, claims, laneId, status, retryAfterMs: null, steps: 0 };
}

function waiting({ id, claims, laneId }: ClaimedDelivery, afterMs: number, steps: number): WithoutAttempt {
  return { id, claims, laneId, status: null, retryAfterMs: Math.round(afterMs), steps };
}

function errorClassOf(verdict: Decided): PostErrorClass | undefined {
  if (verdict.kind === 'succeeded') return undefined;
  return verdict.kind === 'gone' ? 'http' : verdict.errorClass;
}

function responsivenessOf(result: PostResult, now: Date): Responsiveness {
  if (result.kind === 'failed') return SILENT;
  const seconds = restAfter(result, now);
  return seconds === undefined ? ANSWERING : { kind: 'throttled', restMs: seconds * 1_000 };
}

function observationOf(verdict: Decided, result: PostResult, wasSlow: boolean): ReceiverObservation {
  const isOutOfReach =
    result.kind === 'failed' && (result.errorClass === 'timeout' || result.errorClass === 'connect');
  const effect = verdict.kind === 'retry' || verdict.kind === 'exhausted' ? 'failed' : verdict.kind;
  return { effect, isSlow: isOutOfReach || wasSlow };
}

/** Null when the observation would not change what is known about the receiver. */
function reportOf(
  { workspaceId, webhookId }: ClaimedDelivery,
  { asOf, health }: Receiver,
  observation: ReceiverObservation,
  now: Date,
): ReceiverReport | null {
  if (changeAfter(health, observation, now) === undefined) return null;
  return { ...observation, workspaceId, webhookId, asOf };
}

/** The report on a receiver whose POST has become slow, but has no result yet; null: nothing new. */
export function reportOfSlowness(
  delivery: ClaimedDelivery,
  receiver: Receiver,
  now: Date,
): ReceiverReport | null {
  return reportOf(delivery, receiver, { effect: 'awaited', isSlow: true }, now);
}
