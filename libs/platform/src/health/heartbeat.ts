const BEAT_MS = 1_000;
/** A standstill this long means that the process does not do its work. */
const STANDSTILL_MS = 10_000;
/** How long a standstill that is over still counts, so that a probe that comes after it sees it. */
const REMEMBERED_MS = 30_000;

/** Whether the event loop turns: a timer that comes much later than it was set for has been held up. */
export class Heartbeat {
  private lastBeatMs: number;
  /** The last one that is over. */
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
    if (lastedMs > STANDSTILL_MS) this.standstill = { endedMs: now, lastedMs };
    this.lastBeatMs = now;
  }

  check(): { ok: boolean; detail: string } {
    const now = this.now();
    const sinceBeatMs = Math.round(now - this.lastBeatMs);
    const { endedMs, lastedMs } = this.standstill;
    const isRemembered = now - endedMs <= REMEMBERED_MS;
    const before = isRemembered ? `, after a standstill of ${Math.round(lastedMs)} ms` : '';
    return {
      ok: sinceBeatMs <= STANDSTILL_MS && !isRemembered,
      detail: `last turn ${sinceBeatMs} ms ago${before}`,
    };
  }
}
