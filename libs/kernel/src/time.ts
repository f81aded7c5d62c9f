/** The drift that is assumed of a monotonic clock, as a share of the time that passes: twice what is usual. */
const DRIFT = 1e-4;
/** The resolution of what is read from Postgres. */
const RESOLUTION_MS = 1;

/**
 * The database's time, carried on by this process's monotonic clock: between two answers of the database, the time is the most precise recent
 * reading plus what has passed since. A pod whose wall clock is wrong, or is set while it runs, makes no difference. The monotonic clock drifts a
 * little, and stops while its machine sleeps, so readings have to be taken again and again.
 */
export class DatabaseClock {
  private offsetMs = Date.now() - performance.now();
  /** The greatest error that the offset could have when it was measured. */
  private errorMs = Number.POSITIVE_INFINITY;
  private measuredAtMs = 0;

  /**
   * Takes a reading of the database's clock into account if it is more precise than the present estimate, or shows that to be wrong: an answer that
   * took long does not tell when in that time the clock was read (a simple form of the NTP clock filter, RFC 5905, section 10).
   *
   * @param databaseMs what the database said, in milliseconds since 1970
   * @param askedAtMs `performance.now()` before the question was sent; the answer was made at some point between that and now
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

/** Into how many timers a wait is divided. */
const TIMERS_A_WAIT = 10;

/**
 * Calls `giveUp` after `ms` milliseconds in which this process could have received an answer. While the process or its machine is suspended it
 * receives nothing, and often the other side is suspended too: one suspension counts for at most a tenth of the time, and what arrived meanwhile is
 * read first (timers run before sockets are read).
 *
 * @returns a function that ends the wait
 */
export function giveUpAfter(ms: number, giveUp: () => void): () => void {
  let left = TIMERS_A_WAIT;
  let isOver = false;
  let timer = setTimeout(goOn, ms / TIMERS_A_WAIT);
  function goOn(): void {
    left -= 1;
    if (left > 0) timer = setTimeout(goOn, ms / TIMERS_A_WAIT);
    else setImmediate(() => isOver || giveUp());
  }
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Resolves with the promise, or after `ms` milliseconds if it has not settled by then (see `giveUpAfter`); rejects with it. */
export function within<Value>(promise: Promise<Value>, ms: number): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const endWait = giveUpAfter(ms, () => resolve(undefined));
    void promise.then(resolve, reject).finally(endWait);
  });
}
