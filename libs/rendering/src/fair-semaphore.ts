import { Counts } from '@posthorn/kernel';

/**
 * A semaphore that serves waiting owners round robin. An owner that has a permit gets another one only while one more is free, so that no owner can take all of
 * several. Unlike the kernel's `ConcurrencyLimit`, the caller releases it explicitly, after having handled the result of its work: the next in turn may have the
 * same owner, and must see whether that owner has just failed.
 */
export class FairSemaphore {
  /** By owner, in the order of their turns; no list is empty. */
  private readonly waiting = new Map<string, (() => void)[]>();
  /** How many permits each owner has. */
  private readonly taken = new Counts<string>();
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
    if (this.mayTake(owner)) this.countTaken(owner);
    else await new Promise<void>((resolve) => this.wait(owner, resolve));
    return () => this.giveBack(owner);
  }

  private mayTake(owner: string): boolean {
    return this.free > Math.min(this.taken.of(owner), 1);
  }

  private countTaken(owner: string): void {
    this.free -= 1;
    this.taken.add(owner);
  }

  private wait(owner: string, resolve: () => void): void {
    const before = this.waiting.get(owner);
    if (before === undefined) this.waiting.set(owner, [resolve]);
    else before.push(resolve);
  }

  private giveBack(owner: string): void {
    this.free += 1;
    this.taken.remove(owner);
    // An owner that waits for more is appended again, and so gets its next turn in the same loop.
    for (const [next, [resolve, ...others]] of this.waiting) {
      if (!this.mayTake(next)) continue;
      this.countTaken(next);
      this.waiting.delete(next);
      if (others.length > 0) this.waiting.set(next, others);
      resolve!();
    }
  }
}
