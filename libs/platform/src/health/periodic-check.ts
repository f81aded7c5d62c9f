const INTERVAL_MS = 5_000;

/** Runs a check every few seconds, never two runs at once. It does not keep the process alive. */
export class PeriodicCheck {
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  /** @param check never rejects */
  constructor(private readonly check: () => Promise<void>) {}

  start(): void {
    void this.run();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private async run(): Promise<void> {
    await this.check();
    if (!this.stopped) this.timer = setTimeout(() => void this.run(), INTERVAL_MS).unref();
  }
}
