/** One deadline for all the steps of a POST, of which one is under way at a time. */
export class Deadline {
  private readonly timer: NodeJS.Timeout;
  private giveUp: (() => void) | undefined;
  private isOver = false;

  /** @param ms from now on */
  constructor(readonly ms: number) {
    // A process that was held up looks at what has arrived meanwhile before it says that nothing did.
    this.timer = setTimeout(() => setImmediate(() => this.expire()), ms);
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
    clearTimeout(this.timer);
    this.giveUp = undefined;
  }

  private expire(): void {
    this.isOver = true;
    this.giveUp?.();
  }
}
