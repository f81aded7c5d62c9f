const BEAT_MS = 1_000;
/** A standstill this long means that the process does not do its work. */
const STANDSTILL_MS = 10_000;
/** How long a standstill that is over still counts, so that a probe that comes after it sees it. */
const REMEMBERED_MS = 30_000;

/** Whether the event loop turns: a timer that comes much later than it was set for has been held up. */
export class Heartbeat {
  private lastBeatMs: number;
  private standstillEndedMs = -Infinity;
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
    if (now - this.lastBeatMs > STANDSTILL_MS) this.standstillEndedMs = now;
    this.lastBeatMs = now;
  }

  check(): { ok: boolean; detail: string } {
    const now = this.now();
    const sinceBeatMs = Math.round(now - this.lastBeatMs);
    const ok = sinceBeatMs <= STANDSTILL_MS && now - this.standstillEndedMs > REMEMBERED_MS;
    return { ok, detail: `last turn ${sinceBeatMs} ms ago` };
  }
}
