const INTERVAL_MS = 5_000;

/** Has something looked at every few seconds, one look after the other, for as long as the process lives for other reasons. */
export class RegularLook {
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  /** @param look never rejects */
  constructor(private readonly look: () => Promise<void>) {}

  start(): void {
    void this.lookAgainAndAgain();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private async lookAgainAndAgain(): Promise<void> {
    await this.look();
    if (!this.stopped) this.timer = setTimeout(() => void this.lookAgainAndAgain(), INTERVAL_MS).unref();
  }
}
