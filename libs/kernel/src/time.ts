/**
 * The database's time, carried by this process' monotonic clock: whoever asks for the time between two answers of the
 * database gets the last one plus what has passed since. A pod whose own clock is wrong, or is set while it runs, changes nothing.
 */
export class DatabaseClock {
  private offsetMs = Date.now() - performance.now();

  /**
   * Takes in a reading of the database's clock.
   *
   * @param databaseMs what the database said, in milliseconds since 1970
   * @param askedAtMs `performance.now()` before the question was sent; the answer was made at some point between that and now
   */
  observe(databaseMs: number, askedAtMs: number): void {
    this.offsetMs = databaseMs - (askedAtMs + performance.now()) / 2;
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

/** Resolves with the promise, or after `ms` milliseconds if it has not settled by then; rejects with it. */
export async function within<Value>(promise: Promise<Value>, ms: number): Promise<Value | undefined> {
  const done = new AbortController();
  try {
    return await Promise.race([promise, sleep(ms, done.signal).then(() => undefined)]);
  } finally {
    done.abort();
  }
}
