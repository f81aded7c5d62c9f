import type { PostErrorClass, PostOutcome } from './post-outcome.ts';
import { readRetryAfter } from './retry-after.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** After how long an event is posted again, in seconds, by the number of attempts recorded before: 75 h 35 min in all. */
export const POST_AGAIN_AFTER_SECONDS: readonly number[] = [
  5,
  ...[5, 30].map((minutes) => minutes * MINUTE),
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR),
];

/** What was due together comes again spread out, by so much of the delay to either side. */
const JITTER = 0.2;
/** No receiver can put an event off for longer. */
const MAX_RETRY_AFTER_SECONDS = 24 * HOUR;
/** A fault of ours is over soon, or an operator is called. */
const AFTER_A_FAULT_OF_OURS_SECONDS = 30;

const GONE = 410;
/** Those that `Retry-After` is for (RFC 9110, section 15.6.4; RFC 6585, section 4). */
const BUSY: readonly number[] = [429, 503];

/** What is to be done after a POST. The database adds its own `now()` to an `afterSeconds`, which need not be whole. */
export type PostVerdict =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'retry'; readonly afterSeconds: number; readonly errorClass: PostErrorClass }
  /** The retries are used up. */
  | { readonly kind: 'exhausted'; readonly errorClass: PostErrorClass }
  /** The receiver says that it is gone for good: its webhook is to be disabled, and what it would be told is held. */
  | { readonly kind: 'gone' }
  /** The fault was ours: the same attempt is made again, and nothing of it is charged to the receiver. */
  | { readonly kind: 'postponed'; readonly afterSeconds: number };

interface PostSituation {
  /** How many attempts had been recorded before this one: 0 for the first. */
  readonly attempts: number;
  /** A random number from 0 to 1. */
  readonly random: number;
  /** By which a date in `Retry-After` is judged. */
  readonly now: Date;
}

/** What is to be done with a delivery after one POST of it. */
export function decideAfterPost(outcome: PostOutcome, situation: PostSituation): PostVerdict {
  if (outcome.kind === 'ours')
    return { kind: 'postponed', afterSeconds: spread(AFTER_A_FAULT_OF_OURS_SECONDS, situation.random) };
  if (outcome.kind === 'failed') return retry(outcome.errorClass, 0, situation);
  if (isSuccess(outcome.status)) return { kind: 'succeeded' };
  if (outcome.status === GONE) return { kind: 'gone' };
  return retry('http', askedDelay(outcome, situation.now), situation);
}

/** Whether a status line says that an event was delivered. */
function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

function retry(
  errorClass: PostErrorClass,
  atLeast: number,
  { attempts, random }: PostSituation,
): PostVerdict {
  const step = POST_AGAIN_AFTER_SECONDS[attempts];
  if (step === undefined) return { kind: 'exhausted', errorClass };
  return { kind: 'retry', afterSeconds: Math.max(spread(step, random), atLeast), errorClass };
}

/** In seconds; 0 when nothing was asked, or by somebody who may not. */
function askedDelay({ status, retryAfter }: Extract<PostOutcome, { kind: 'answered' }>, now: Date): number {
  if (retryAfter === undefined || !BUSY.includes(status)) return 0;
  return Math.min(readRetryAfter(retryAfter, now) ?? 0, MAX_RETRY_AFTER_SECONDS);
}

function spread(seconds: number, random: number): number {
  return seconds * (1 - JITTER + 2 * JITTER * random);
}
