import type { OnApplicationBootstrap } from '@nestjs/common';

const POLL_INTERVAL_MS = 30_000;

/**
 * Polls for mails that a process stored but did not submit before it died. Every gateway polls; a mail that two of them find is sent
 * once.
 */
export class PendingMails implements OnApplicationBootstrap {
  private timer: NodeJS.Timeout | undefined;
  private polling: Promise<void> | undefined;
  private isEnding = false;

  constructor(
    /** One for each kind of mail. */
    private readonly mails: readonly { submitPending(shouldContinue: () => boolean): Promise<number> }[],
    /** Called when a poll failed; the next one retries. */
    private readonly onError: (error: unknown) => void,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => this.begin(), POLL_INTERVAL_MS).unref();
    this.begin();
  }

  /** Stops polling; resolves when the current poll has ended, which submits no further mail. */
  async close(): Promise<void> {
    this.isEnding = true;
    clearInterval(this.timer);
    await this.polling;
  }

  private begin(): void {
    this.polling ??= this.poll().finally(() => (this.polling = undefined));
  }

  /** The failure of one kind does not affect the others. */
  private async poll(): Promise<void> {
    for (const mails of this.mails) {
      try {
        await mails.submitPending(() => !this.isEnding);
      } catch (error) {
        this.onError(error);
      }
    }
  }
}
