/**
 * A semaphore that serves waiting owners round robin. Unlike the kernel's `ConcurrencyLimit`, the caller releases it explicitly, after having handled the
 * result of its work: the next in turn may have the same owner, and must see whether that owner has just failed.
 */
export class FairSemaphore {
  /** By owner, in the order of their turns; no list is empty. */
  private readonly waiting = new Map<string, (() => void)[]>();

  private free: number;

  constructor(count: number) {
    this.free = count;
  }

  /** How many are waiting. */
  get waitingCount(): number {
    return [...this.waiting.values()].reduce((count, { length }) => count + length, 0);
  }

  /** How many of an owner are waiting. */
  waitingCountOf(owner: string): number {
    return this.waiting.get(owner)?.length ?? 0;
  }

  /** Resolves when it is the caller's turn, with a release function that must be called exactly once. */
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
