/**
 * So many at once, the others in the order in which they came. The kernel's `FewAtOnce` gives a place on before whoever had it has heard what
 * became of their work; here who comes next may be of the same owner, and is asked when the failure of the one before is known.
 */
export class Slots {
  private readonly waiting: (() => void)[] = [];

  private free: number;

  constructor(count: number) {
    this.free = count;
  }

  /** How many wait for their turn. */
  get waiters(): number {
    return this.waiting.length;
  }

  /** Resolves when it is the caller's turn, with what gives the place to the next; to be called exactly once. */
  async take(): Promise<() => void> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    return () => this.giveBack();
  }

  private giveBack(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free += 1;
    else next();
  }
}
