import { BoundedMap } from '@posthorn/kernel';
import { RenderingFailed } from './rendering-failed.ts';

/** So many may wait to be done alone; who renders for others has no more places to give to them. */
const MOST_WAITING = 4;
/** For so long after it cost a thread its life an owner is suspected: its emails may come by the dozen, and come again. */
const SUSPECTED_MS = 600_000;
const MOST_KNOWN = 1_000;

/**
 * Whose work cost a thread its deadline or its memory. What they ask for next is done one task at a time, over all of them, so that
 * the other threads are free for everybody else.
 */
export class Suspects {
  /** Until when each is suspected, by the monotonic clock. */
  private readonly known = new BoundedMap<string, number>(MOST_KNOWN);
  private readonly work: string;
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  /** @param work what is done for them, as the subject of a sentence */
  constructor(work: string) {
    this.work = work;
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
    this.known.set(owner, performance.now() + SUSPECTED_MS);
  }

  /**
   * Does a task of a suspect when those of suspects before it are done.
   *
   * @throws {@link RenderingFailed} (`busy`) when so many wait that it was not begun
   */
  async alone<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.waiting >= MOST_WAITING)
      throw new RenderingFailed('busy', `${this.work} waits behind ${MOST_WAITING} others that may be slow`);
    this.waiting += 1;
    const result = this.last.then(task).finally(() => (this.waiting -= 1));
    this.last = result.catch(() => undefined);
    return result;
  }
}
