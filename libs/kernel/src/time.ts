/** Assumed drift of a monotonic clock, as a fraction of elapsed time: twice what is usual. */
const DRIFT = 1e-4;
/** Resolution of timestamps read from Postgres. */
const RESOLUTION_MS = 1;

/**
 * The database's time, extrapolated with this process's monotonic clock: the most precise recent reading plus the time elapsed since. The wall clock
 * of the machine, and changes to it, do not matter. The monotonic clock drifts a little and stops while its machine sleeps, so readings must be taken
 * regularly.
 */
export class DatabaseClock {
  private offsetMs = Date.now() - performance.now();
  /** The maximum error of the offset at the time of measurement. */
  private errorMs = Number.POSITIVE_INFINITY;
  private measuredAtMs = 0;

  /**
   * Adopts a reading of the database's clock if it is more precise than the current estimate, or contradicts it. The longer the round trip, the less
   * precise the reading (a simple form of the NTP clock filter, RFC 5905, section 10).
   *
   * @param databaseMs the database's time, in milliseconds since 1970
   * @param askedAtMs `performance.now()` before the query was sent
   */
  observe(databaseMs: number, askedAtMs: number): void {
    const nowMs = performance.now();
    const offsetMs = databaseMs - (askedAtMs + nowMs) / 2;
    const errorMs = (nowMs - askedAtMs) / 2 + RESOLUTION_MS;
    const believedErrorMs = this.errorMs + (nowMs - this.measuredAtMs) * DRIFT;
    const isAtOdds = Math.abs(offsetMs - this.offsetMs) > errorMs + believedErrorMs;
    if (errorMs > believedErrorMs && !isAtOdds) return;
    this.offsetMs = offsetMs;
    this.errorMs = errorMs;
    this.measuredAtMs = nowMs;
  }

  /** The database's time in milliseconds since 1970. */
  nowMs(): number {
    return performance.now() + this.offsetMs;
  }

  /** The database's time. */
  now(): Date {
    return new Date(this.nowMs());
  }
}

/** How far the wall clock is ahead of the monotonic one, as far as is known. */
let aheadMs = Date.now() - performance.now();
let sleptMs = 0;
/** Below this, it is rounding, or not worth counting yet. */
const LEAST_STEP_MS = 1_000;

/**
 * A clock for what ends elsewhere too, in milliseconds: like `performance.now()` it never goes back, but it also counts the time in which the machine sleeps, by
 * the wall clock. If that is set forward, this clock jumps with it, so that something seems to have ended early; it does not follow one that is set back.
 */
export function suspensionProofNowMs(): number {
  const nowMs = performance.now();
  const stepMs = Date.now() - nowMs - aheadMs;
  if (Math.abs(stepMs) >= LEAST_STEP_MS) {
    aheadMs += stepMs;
    sleptMs += Math.max(stepMs, 0);
  }
  return nowMs + sleptMs;
}

/** Resolves after `ms` milliseconds, or at once when `signal` is or becomes aborted (it never rejects). */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}

/** How many consecutive timers make up one timeout. */
const TIMERS_PER_TIMEOUT = 10;

/**
 * Like `setTimeout`, but suspension-proof: calls `giveUp` after `ms` milliseconds in which this process could have received an answer. One suspension
 * of the process or its machine counts for at most a tenth of the time, because nothing can be received meanwhile and often the other side is
 * suspended too. What has already arrived is read first (Node runs timers before it reads sockets).
 *
 * @returns a function that cancels the timeout
 */
export function startTimeout(ms: number, giveUp: () => void): () => void {
  let left = TIMERS_PER_TIMEOUT;
  let isOver = false;
  let timer = setTimeout(goOn, ms / TIMERS_PER_TIMEOUT);
  function goOn(): void {
    left -= 1;
    if (left > 0) timer = setTimeout(goOn, ms / TIMERS_PER_TIMEOUT);
    else setImmediate(() => isOver || giveUp());
  }
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Settles as the promise does, but resolves with undefined if that takes longer than `ms` milliseconds (see `startTimeout`). */
export function within<Value>(promise: Promise<Value>, ms: number): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const cancelTimeout = startTimeout(ms, () => resolve(undefined));
    void promise.then(resolve, reject).finally(cancelTimeout);
  });
}
