const SECOND_MS = 1_000;

/** Limits how many transmissions may begin per second, evenly spaced. */
export class Pace {
  private readonly intervalMs: number;
  /** When the next transmission may begin, by the monotonic clock. */
  private nextMs = 0;
  private readonly waiting = new Map<NodeJS.Timeout, () => void>();
  private isStopped = false;

  /** @param perSecond how many may begin in a second; 0: any number */
  constructor(perSecond: number) {
    this.intervalMs = perSecond === 0 ? 0 : SECOND_MS / perSecond;
  }

  /** Resolves when it is the caller's turn, first come, first served. */
  turn(): Promise<void> {
    const nowMs = performance.now();
    const atMs = Math.max(this.nextMs, nowMs);
    this.nextMs = atMs + this.intervalMs;
    // Timers have a resolution of a millisecond; a shorter wait is skipped, and the next one is longer by as much.
    if (this.isStopped || atMs - nowMs < 1) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.waiting.delete(timer);
        resolve();
      }, atMs - nowMs);
      this.waiting.set(timer, resolve);
    });
  }

  /** Removes the limit permanently: for shutting down, when nothing more is begun. */
  stop(): void {
    this.isStopped = true;
    for (const [timer, resolve] of this.waiting) {
      clearTimeout(timer);
      resolve();
    }
  }
}
