import { Counts, RoundRobin } from '@posthorn/kernel';

interface Waiting {
  readonly owner: string;
  readonly letIn: () => void;
}

/**
 * A semaphore that serves waiting owners round robin. An owner that has a permit gets another one only while one more is free, so that no owner can take all of
 * several. Unlike the kernel's `ConcurrencyLimit`, the caller releases it explicitly, after having handled the result of its work: the next in turn may have the
 * same owner, and must see whether that owner has just failed.
 */
export class FairSemaphore {
  private readonly waiting = new RoundRobin<string, Waiting>();
  /** How many permits each owner has. */
  private readonly taken = new Counts<string>();
  private free: number;

  constructor(count: number) {
    this.free = count;
  }

  /** How many are waiting. */
  get waitingCount(): number {
    return this.waiting.size;
  }

  /** How many of an owner are waiting. */
  waitingCountOf(owner: string): number {
    return this.waiting.sizeOf(owner);
  }

  /** Resolves when it is the caller's turn, with a release function that must be called exactly once. */
  async take(owner: string): Promise<() => void> {
    if (this.mayTake(owner)) this.countTaken(owner);
    else await new Promise<void>((letIn) => this.waiting.add(owner, { owner, letIn }));
    return () => this.giveBack(owner);
  }

  private mayTake(owner: string): boolean {
    return this.free > Math.min(this.taken.of(owner), 1);
  }

  private countTaken(owner: string): void {
    this.free -= 1;
    this.taken.add(owner);
  }

  private giveBack(owner: string): void {
    this.free += 1;
    this.taken.remove(owner);
    for (;;) {
      const next = this.waiting.next((first) => this.mayTake(first.owner));
      if (next === undefined) return;
      this.countTaken(next.owner);
      next.letIn();
    }
  }
}
