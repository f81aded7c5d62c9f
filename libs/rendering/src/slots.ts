/**
 * So many at once. The others wait, one of each owner in turn: nobody waits behind all of somebody else. The kernel's `ConcurrencyLimit` gives a place
 * on before whoever had it has heard what became of their work; here who comes next may be of the same owner, and is asked when the failure
 * of the one before is known.
 */
export class Slots {
  /** By owner; the one whose turn is next comes first. None is empty. */
  private readonly waiting = new Map<string, (() => void)[]>();

  private free: number;

  constructor(count: number) {
    this.free = count;
  }

  /** How many wait for their turn. */
  get waiters(): number {
    return [...this.waiting.values()].reduce((count, { length }) => count + length, 0);
  }

  /** How many of an owner do. */
  waitersOf(owner: string): number {
    return this.waiting.get(owner)?.length ?? 0;
  }

  /** Resolves when it is the caller's turn, with what gives the place to the next; to be called exactly once. */
  async take(owner: string): Promise<() => void> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.wait(owner, resolve));
    return () => this.giveBack();
  }

  private wait(owner: string, resolve: () => void): void {
    const before = this.waiting.get(owner);
    if (before === undefined) this.waiting.set(owner, [resolve]);
    else before.push(resolve);
  }

  private giveBack(): void {
    const [first] = this.waiting;
    if (first === undefined) {
      this.free += 1;
      return;
    }
    const [owner, [next, ...others]] = first as [string, [() => void, ...(() => void)[]]];
    this.waiting.delete(owner);
    if (others.length > 0) this.waiting.set(owner, others);
    next();
  }
}
