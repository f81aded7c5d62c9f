import { startTimeout } from '@posthorn/kernel';

/** A common deadline for the consecutive steps of a POST. */
export class Deadline {
  private readonly cancelTimeout: () => void;
  private giveUp: (() => void) | undefined;
  private isOver = false;

  /** @param ms from now on */
  constructor(readonly ms: number) {
    this.cancelTimeout = startTimeout(ms, () => this.expire());
  }

  /**
   * Begins a step; replaces the previous one.
   *
   * @param giveUp aborts the step when the deadline expires; called at once if it has expired already
   */
  guard(giveUp: () => void): void {
    this.giveUp = giveUp;
    if (this.isOver) giveUp();
  }

  /** Cancels the deadline. */
  clear(): void {
    this.cancelTimeout();
    this.giveUp = undefined;
  }

  private expire(): void {
    this.isOver = true;
    this.giveUp?.();
  }
}
