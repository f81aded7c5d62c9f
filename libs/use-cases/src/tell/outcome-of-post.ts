import { beginningOf } from '@posthorn/kernel';
import {
  decideAfterPost,
  learnFrom,
  type PostErrorClass,
  type PostVerdict,
  type ReceiverLesson,
} from '@posthorn/domain';
import type {
  ClaimedDelivery,
  DeliveryOutcome,
  OwnFault,
  Receiver,
  ReceiverReport,
} from '@posthorn/database';
import type { PostResult } from '@posthorn/webhooks';

/** Whoever takes longer than this keeps us waiting. */
export const SLOW_MS = 2_000;
const MAX_REASON_CHARACTERS = 1_000;
/** Found before anything was posted; the clock brings it back. */
const AFTER_A_FAULT_OF_OURS_MS = 30_000;

/** What became of a delivery, and what it showed of its receiver; null: nothing new. */
export interface ToldOutcome extends DeliveryOutcome {
  /** A fault of ours that kept it from being posted; absent: there was none. */
  readonly ownFault?: OwnFault;
  readonly report: ReceiverReport | null;
}

interface PostMoment {
  readonly now: Date;
  /** From 0 to 1. */
  readonly random: number;
  /** Whether its result was waited for: of its name, or since its addresses were known. */
  readonly hasWaited: boolean;
}

/** Turns the result of a POST into what is recorded. */
export function outcomeOfPost(
  delivery: ClaimedDelivery,
  receiver: Receiver,
  result: PostResult,
  { now, random, hasWaited }: PostMoment,
): ToldOutcome {
  const verdict = decideAfterPost(result, { attempts: delivery.attempts, random, now });
  if (verdict.kind === 'postponed')
    return postponed(delivery, verdict.afterSeconds * 1_000, result.durationMs);
  return {
    attempt: {
      number: delivery.attemptsMade + 1,
      durationMs: result.durationMs,
      errorClass: errorClassOf(verdict),
      ...(result.kind === 'answered'
        ? { statusCode: result.status, headers: result.headers, body: result.body }
        : { reason: beginningOf(result.reason, MAX_REASON_CHARACTERS) }),
    },
    report: reportOf(delivery, receiver, lessonOf(verdict, result, hasWaited), now),
    ...afterVerdict(delivery, verdict),
  };
}

/** Its webhook was deleted: there is nobody to tell. */
export function cancelled(delivery: ClaimedDelivery): ToldOutcome {
  return { ...finished(delivery, 'CANCELLED'), attempt: null, report: null };
}

/** The fault was ours: it costs neither an attempt nor a step. */
export function postponed(
  delivery: ClaimedDelivery,
  afterMs = AFTER_A_FAULT_OF_OURS_MS,
  durationMs = 0,
): ToldOutcome {
  const { id, claims, attempts, attemptsMade } = delivery;
  return {
    ...waiting(delivery, afterMs, attempts),
    attempt: null,
    report: null,
    ownFault: { id, claims, number: attemptsMade + 1, durationMs },
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
      // Held with its webhook; if that is active again, all of its retries are there again.
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

function lessonOf(verdict: Decided, result: PostResult, hasWaited: boolean): ReceiverLesson {
  const isOutOfReach =
    result.kind === 'failed' && (result.errorClass === 'timeout' || result.errorClass === 'connect');
  const effect = verdict.kind === 'retry' || verdict.kind === 'exhausted' ? 'failed' : verdict.kind;
  return { effect, isSlow: isOutOfReach || hasWaited };
}

/** What changes nothing of what is known is not reported. */
function reportOf(
  { workspaceId, webhookId }: ClaimedDelivery,
  { asOf, health }: Receiver,
  lesson: ReceiverLesson,
  now: Date,
): ReceiverReport | null {
  if (learnFrom(health, lesson, now) === undefined) return null;
  return { ...lesson, workspaceId, webhookId, asOf };
}

/** What a POST that has no answer yet shows of its receiver; null: nothing new. */
export function reportOfWait(
  delivery: ClaimedDelivery,
  receiver: Receiver,
  now: Date,
): ReceiverReport | null {
  return reportOf(delivery, receiver, { effect: 'awaited', isSlow: true }, now);
}
