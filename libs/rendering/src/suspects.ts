import { BoundedMap } from '@posthorn/kernel';
import { RenderingFailed } from './rendering-failed.ts';
import type { RenderingThreads } from './rendering-threads.ts';

/** So many may wait to be done alone; who renders for others has no more places to give to them. */
const MAX_WAITING = 4;
const MAX_KNOWN = 1_000;

/**
 * Whose work cost a thread its deadline or its memory. What they ask for next is done one task at a time, over all of them, so that
 * the other threads are free for everybody else.
 */
export class Suspects {
  /** Until when each is suspected, by the monotonic clock. */
  private readonly known = new BoundedMap<string, number>(MAX_KNOWN);
  private readonly work: string;
  private readonly suspectedMs: number;
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  /**
   * @param work what is done for them, as the subject of a sentence
   * @param suspectedMs for how long an owner is suspected after each failure
   */
  constructor(work: string, suspectedMs: number) {
    this.work = work;
    this.suspectedMs = suspectedMs;
  }

  has(owner: string): boolean {
    const until = this.known.get(owner);
    if (until === undefined) return false;
    if (performance.now() < until) return true;
    this.known.delete(owner);
    return false;
  }

  /** Suspects the owner of what failed, if the failure cost others a thread's time. */
  judge(owner: string, failure: unknown): void {
    if (!(failure instanceof RenderingFailed)) return;
    if (failure.reason !== 'deadline' && failure.reason !== 'memory') return;
    this.known.set(owner, performance.now() + this.suspectedMs);
  }

  /**
   * Does an owner's task in a thread: beside everybody else's, or {@link alone} once the owner is suspected.
   *
   * @throws {@link RenderingFailed} as the threads do, and (`busy`) as `alone` does
   */
  async run<Task, Result>(
    threads: RenderingThreads<Task, Result>,
    task: Task,
    owner: string,
  ): Promise<Result> {
    // Asked again when a thread is free: what came before it may have been of the same owner.
    const unlessSuspected = () => (this.has(owner) ? undefined : task);
    const result = this.has(owner) ? undefined : await this.charged(threads, unlessSuspected, owner);
    return result ?? (await this.alone(() => this.charged(threads, () => task, owner)))!;
  }

  /**
   * Does a task of a suspect when those of suspects before it are done.
   *
   * @throws {@link RenderingFailed} (`busy`) when so many wait that it was not begun
   */
  async alone<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.waiting >= MAX_WAITING) throw this.busy();
    this.waiting += 1;
    const result = this.last.then(task).finally(() => (this.waiting -= 1));
    this.last = result.catch(() => undefined);
    return result;
  }

  private async charged<Task, Result>(
    threads: RenderingThreads<Task, Result>,
    take: () => Task | undefined,
    owner: string,
  ): Promise<Result | undefined> {
    try {
      return await threads.run(owner, take);
    } catch (failure) {
      this.judge(owner, failure);
      throw failure;
    }
  }

  private busy(): RenderingFailed {
    const message = `${this.work} waits behind ${MAX_WAITING} others that may be slow`;
    return new RenderingFailed('busy', message);
  }
}
