/** How much a monotonic clock may go wrong, as a share of the time that passes; those of computers are said to keep within half of it. */
const DRIFT = 1e-4;
/** Postgres is read in whole milliseconds. */
const RESOLUTION_MS = 1;

/**
 * The database's time, carried by this process' monotonic clock: whoever asks for the time between two answers of the
 * database gets the surest of the last ones plus what has passed since. A pod whose own clock is wrong, or is set while it runs, changes nothing.
 * That monotonic clock gains or loses a little each day, and stands still while its machine sleeps, so it has to be told again and again.
 */
export class DatabaseClock {
  private offsetMs = Date.now() - performance.now();
  /** How wrong it could be when it was told. */
  private errorMs = Number.POSITIVE_INFINITY;
  private toldAtMs = 0;

  /**
   * Takes in a reading of the database's clock, if it is surer than what is believed by now or shows it to be wrong: an answer that took long
   * does not say at which point of that time the clock was read (the filter of NTP, RFC 5905, section 10, in small).
   *
   * @param databaseMs what the database said, in milliseconds since 1970
   * @param askedAtMs `performance.now()` before the question was sent; the answer was made at some point between that and now
   */
  observe(databaseMs: number, askedAtMs: number): void {
    const nowMs = performance.now();
    const offsetMs = databaseMs - (askedAtMs + nowMs) / 2;
    const errorMs = (nowMs - askedAtMs) / 2 + RESOLUTION_MS;
    const believedErrorMs = this.errorMs + (nowMs - this.toldAtMs) * DRIFT;
    const isAtOdds = Math.abs(offsetMs - this.offsetMs) > errorMs + believedErrorMs;
    if (errorMs > believedErrorMs && !isAtOdds) return;
    this.offsetMs = offsetMs;
    this.errorMs = errorMs;
    this.toldAtMs = nowMs;
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

/** So many times in a wait it is seen that this process is alive. */
const SIGNS_OF_LIFE = 10;

/**
 * Calls `giveUp` when an answer has been waited for for `ms` milliseconds by a process that could hear it. One that stands still, or whose machine
 * does, hears nothing, and neither, as often, does the one that it asked: that counts for a tenth of the time at most, and what has arrived meanwhile
 * is looked at first (timers run before sockets are read).
 *
 * @returns ends the wait
 */
export function giveUpAfter(ms: number, giveUp: () => void): () => void {
  let left = SIGNS_OF_LIFE;
  let isOver = false;
  let timer = setTimeout(goOn, ms / SIGNS_OF_LIFE);
  function goOn(): void {
    left -= 1;
    if (left > 0) timer = setTimeout(goOn, ms / SIGNS_OF_LIFE);
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
