import { ConcurrencyLimit, TimedSet } from '@posthorn/kernel';
import { RenderingFailed } from './rendering-failed.ts';
import type { RenderingThreads } from './rendering-threads.ts';

/** How many tasks of quarantined owners there may be, with the one that runs; more would take too much of the caller's own capacity. */
const MAX_TASKS = 4;
const MAX_KNOWN = 1_000;

/**
 * Owners whose work has recently exceeded the deadline or memory of a thread. For a while all of their tasks, of all such owners together, run one at a time,
 * so that the other threads are free for everybody else.
 */
export class Quarantine {
  private readonly owners: TimedSet<string>;
  private readonly serial = new ConcurrencyLimit({
    maxConcurrent: 1,
    maxWaiting: MAX_TASKS - 1,
    refusal: () =>
      new RenderingFailed('busy', `${this.work} waits behind ${MAX_TASKS} others that may be slow`),
  });

  /**
   * @param work what the tasks do, as the subject of a sentence
   * @param durationMs how long an owner is quarantined after each failure
   */
  constructor(
    private readonly work: string,
    durationMs: number,
  ) {
    this.owners = new TimedSet(MAX_KNOWN, durationMs);
  }

  has(owner: string): boolean {
    return this.owners.has(owner);
  }

  /** Quarantines the owner of a failed task, if it has exceeded the deadline or memory of a thread. */
  noteFailure(owner: string, failure: unknown): void {
    if (!(failure instanceof RenderingFailed)) return;
    if (failure.reason === 'deadline' || failure.reason === 'memory') this.owners.add(owner);
  }

  /**
   * Runs an owner's task in a thread, concurrently with others, or by {@link runSerially} if the owner is quarantined.
   *
   * @throws {@link RenderingFailed} as the threads, and (`busy`) as `runSerially`
   */
  async run<Task, Result>(
    threads: RenderingThreads<Task, Result>,
    task: Task,
    owner: string,
  ): Promise<Result> {
    // Checked again when a thread is free, because an earlier task of the same owner may have failed meanwhile.
    const unlessQuarantined = () => (this.has(owner) ? undefined : task);
    const result = this.has(owner)
      ? undefined
      : await this.runAndNoteFailure(threads, unlessQuarantined, owner);
    return result ?? (await this.runSerially(() => this.runAndNoteFailure(threads, () => task, owner)))!;
  }

  /**
   * Runs a task of a quarantined owner after all earlier ones of quarantined owners.
   *
   * @throws {@link RenderingFailed} (`busy`) when too many are waiting
   */
  runSerially<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.serial.run(task);
  }

  private async runAndNoteFailure<Task, Result>(
    threads: RenderingThreads<Task, Result>,
    take: () => Task | undefined,
    owner: string,
  ): Promise<Result | undefined> {
    try {
      return await threads.run(owner, take);
    } catch (failure) {
      this.noteFailure(owner, failure);
      throw failure;
    }
  }
}
