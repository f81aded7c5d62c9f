import type { OnApplicationBootstrap } from '@nestjs/common';

const POLL_INTERVAL_MS = 30_000;

/**
 * Polls for mails that a process recorded but crashed before handing over. Every gateway polls; a mail that two of them find is sent
 * once.
 */
export class OwedMails implements OnApplicationBootstrap {
  private timer: NodeJS.Timeout | undefined;
  private polling: Promise<void> | undefined;
  private isEnding = false;

  constructor(
    /** One for each kind of mail. */
    private readonly mails: readonly { handOverOwed(mayGoOn: () => boolean): Promise<number> }[],
    /** Called when a poll failed; the next one retries. */
    private readonly onError: (error: unknown) => void,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => this.begin(), POLL_INTERVAL_MS).unref();
    this.begin();
  }

  /** Stops polling; resolves when the current poll has ended, which hands over no further mail. */
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
        await mails.handOverOwed(() => !this.isEnding);
      } catch (error) {
        this.onError(error);
      }
    }
  }
}
