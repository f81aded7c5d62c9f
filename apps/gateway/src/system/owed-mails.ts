import type { OnApplicationBootstrap } from '@nestjs/common';

const LOOKED_FOR_EVERY_MS = 30_000;

/**
 * Looks now and then for mails that somebody wrote down and did not live to hand over. Every gateway does, and two that find the
 * same mail send it once.
 */
export class OwedMails implements OnApplicationBootstrap {
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private isEnding = false;

  constructor(
    /** Each of its own kind. */
    private readonly mails: readonly { handOverOwed(mayGoOn: () => boolean): Promise<number> }[],
    /** Told when it could not look; it looks again. */
    private readonly onError: (error: unknown) => void,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => this.begin(), LOOKED_FOR_EVERY_MS).unref();
    this.begin();
  }

  /** Stops looking; resolves when the last look has ended, which begins no further mail. */
  async close(): Promise<void> {
    this.isEnding = true;
    clearInterval(this.timer);
    await this.looking;
  }

  private begin(): void {
    this.looking ??= this.look().finally(() => (this.looking = undefined));
  }

  /** Each kind for itself: what keeps one from being handed over must not keep the others. */
  private async look(): Promise<void> {
    for (const mails of this.mails) {
      try {
        await mails.handOverOwed(() => !this.isEnding);
      } catch (error) {
        this.onError(error);
      }
    }
  }
}
