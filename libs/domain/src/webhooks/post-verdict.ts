import type { PostErrorClass, PostOutcome } from './post-outcome.ts';
import { readRetryAfter } from './retry-after.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** The delay before the next attempt, in seconds, by the number of attempts recorded before: 75 h 35 min in total. */
export const POST_AGAIN_AFTER_SECONDS: readonly number[] = [
  5,
  ...[5, 30].map((minutes) => minutes * MINUTE),
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR),
];

/** Jitter, as a fraction of the delay in both directions, so that deliveries that failed together are not retried together. */
const JITTER = 0.2;
/** The maximum delay that a receiver can request. */
const MAX_RETRY_AFTER_SECONDS = 24 * HOUR;
/** A local fault ends soon, or an operator is alerted. */
const LOCAL_FAULT_DELAY_SECONDS = 30;

const GONE = 410;
/** How long a receiver that gets too many requests rests at least, and at most: afterwards a single delivery shows whether it takes more. */
const MIN_REST_SECONDS = 1;
const MAX_REST_SECONDS = MINUTE;

const TOO_MANY_REQUESTS = 429;
/** The statuses whose `Retry-After` is honoured (RFC 9110, section 15.6.4; RFC 6585, section 4). */
const BUSY: readonly number[] = [TOO_MANY_REQUESTS, 503];

/** What happens to a delivery after a POST. `afterSeconds` is added to the database's `now()` and can have a fraction. */
export type PostVerdict =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'retry'; readonly afterSeconds: number; readonly errorClass: PostErrorClass }
  /** The retries are exhausted. */
  | { readonly kind: 'exhausted'; readonly errorClass: PostErrorClass }
  /** The receiver is permanently gone: its webhook is disabled, and its deliveries are held. */
  | { readonly kind: 'gone' }
  /** The fault was local: the attempt is repeated and does not count. */
  | { readonly kind: 'postponed'; readonly afterSeconds: number };

interface PostSituation {
  /** How many attempts were recorded before this one: 0 for the first. */
  readonly attempts: number;
  /** A random number from 0 to 1. */
  readonly random: number;
  /** The reference for a date in `Retry-After`. */
  readonly now: Date;
}

/** Decides what happens to a delivery after a POST. */
export function decideAfterPost(outcome: PostOutcome, situation: PostSituation): PostVerdict {
  if (outcome.kind === 'ours')
    return { kind: 'postponed', afterSeconds: withJitter(LOCAL_FAULT_DELAY_SECONDS, situation.random) };
  if (outcome.kind === 'failed') return retry(outcome.errorClass, 0, situation);
  if (isSuccess(outcome.status)) return { kind: 'succeeded' };
  if (outcome.status === GONE) return { kind: 'gone' };
  const asked = requestedDelay(outcome, situation.now) ?? 0;
  return retry('http', Math.min(asked, MAX_RETRY_AFTER_SECONDS), situation);
}

/**
 * For how long, in seconds, nothing more should be posted to a receiver after a POST: until then it would refuse other deliveries as well. Undefined: it has not
 * said that it gets too many requests, by a 429, or a 503 with a `Retry-After`.
 */
export function restAfter(outcome: PostOutcome, now: Date): number | undefined {
  if (outcome.kind !== 'answered') return undefined;
  const asked = requestedDelay(outcome, now);
  if (asked === undefined && outcome.status !== TOO_MANY_REQUESTS) return undefined;
  return Math.min(Math.max(asked ?? 0, MIN_REST_SECONDS), MAX_REST_SECONDS);
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

function retry(
  errorClass: PostErrorClass,
  minSeconds: number,
  { attempts, random }: PostSituation,
): PostVerdict {
  const step = POST_AGAIN_AFTER_SECONDS[attempts];
  if (step === undefined) return { kind: 'exhausted', errorClass };
  return { kind: 'retry', afterSeconds: Math.max(withJitter(step, random), minSeconds), errorClass };
}

/** The delay that a response requests, in seconds; undefined: none, or its status does not permit one. */
function requestedDelay(
  { status, retryAfter }: Extract<PostOutcome, { kind: 'answered' }>,
  now: Date,
): number | undefined {
  return retryAfter === undefined || !BUSY.includes(status) ? undefined : readRetryAfter(retryAfter, now);
}

function withJitter(seconds: number, random: number): number {
  return seconds * (1 - JITTER + 2 * JITTER * random);
}
