import { startTimeout } from '@posthorn/kernel';

/** One deadline for all the steps of a POST, of which one is under way at a time. */
export class Deadline {
  private readonly cancelTimeout: () => void;
  private giveUp: (() => void) | undefined;
  private isOver = false;

  /** @param ms from now on */
  constructor(readonly ms: number) {
    this.cancelTimeout = startTimeout(ms, () => this.expire());
  }

  /**
   * Says how the step that begins now is given up when the time is over; the one before is done.
   *
   * @param giveUp called at once when the time is over already
   */
  guard(giveUp: () => void): void {
    this.giveUp = giveUp;
    if (this.isOver) giveUp();
  }

  /** Nothing is given up any more. */
  clear(): void {
    this.cancelTimeout();
    this.giveUp = undefined;
  }

  private expire(): void {
    this.isOver = true;
    this.giveUp?.();
  }
}
