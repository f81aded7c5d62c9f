/**
 * A semaphore that serves waiting owners round robin. An owner that has a permit gets another one only while one more is free, so that no owner can take all of
 * several. Unlike the kernel's `ConcurrencyLimit`, the caller releases it explicitly, after having handled the result of its work: the next in turn may have the
 * same owner, and must see whether that owner has just failed.
 */
export class FairSemaphore {
  /** By owner, in the order of their turns; no list is empty. */
  private readonly waiting = new Map<string, (() => void)[]>();
  /** How many permits each owner has, of those that have any. */
  private readonly taken = new Map<string, number>();

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
    if (this.mayTake(owner)) this.count(owner, 1);
    else await new Promise<void>((resolve) => this.wait(owner, resolve));
    return () => this.giveBack(owner);
  }

  private mayTake(owner: string): boolean {
    return this.free > (this.taken.has(owner) ? 1 : 0);
  }

  /** Counts a permit that is taken (1) or given back (-1). */
  private count(owner: string, change: 1 | -1): void {
    this.free -= change;
    const taken = (this.taken.get(owner) ?? 0) + change;
    if (taken > 0) this.taken.set(owner, taken);
    else this.taken.delete(owner);
  }

  private wait(owner: string, resolve: () => void): void {
    const before = this.waiting.get(owner);
    if (before === undefined) this.waiting.set(owner, [resolve]);
    else before.push(resolve);
  }

  private giveBack(owner: string): void {
    this.count(owner, -1);
    // An owner that waits for more is appended again, and so gets its next turn in the same loop.
    for (const [next, [resolve, ...others]] of this.waiting) {
      if (!this.mayTake(next)) continue;
      this.count(next, 1);
      this.waiting.delete(next);
      if (others.length > 0) this.waiting.set(next, others);
      resolve!();
    }
  }
}
