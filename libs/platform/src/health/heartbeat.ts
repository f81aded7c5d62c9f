const BEAT_MS = 1_000;
/** An event loop that is blocked for this long makes the process unhealthy. */
const BLOCKED_MS = 10_000;
/** How long a past standstill is reported, so that a probe that could only be answered afterwards sees it. */
const REPORTED_MS = 30_000;

/** Detects a blocked event loop, by a timer that fires much later than it should. */
export class Heartbeat {
  private lastBeatMs: number;
  /** The last one that has ended. */
  private standstill = { endedMs: -Infinity, lastedMs: 0 };
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly now: () => number = () => performance.now()) {
    this.lastBeatMs = now();
  }

  start(): void {
    this.lastBeatMs = this.now();
    this.timer = setInterval(() => this.beat(), BEAT_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  beat(): void {
    const now = this.now();
    const lastedMs = now - this.lastBeatMs;
    if (lastedMs > BLOCKED_MS) this.standstill = { endedMs: now, lastedMs };
    this.lastBeatMs = now;
  }

  check(): { ok: boolean; detail: string } {
    const now = this.now();
    const sinceBeatMs = Math.round(now - this.lastBeatMs);
    const { endedMs, lastedMs } = this.standstill;
    const isReported = now - endedMs <= REPORTED_MS;
    const before = isReported ? `, after a standstill of ${Math.round(lastedMs)} ms` : '';
    return {
      ok: sinceBeatMs <= BLOCKED_MS && !isReported,
      detail: `last turn ${sinceBeatMs} ms ago${before}`,
    };
  }
}
