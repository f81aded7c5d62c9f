import { availableParallelism } from 'node:os';
import { startTimeout, type Thread, ThreadPool } from '@posthorn/kernel';
import { RenderingFailed } from './rendering-failed.ts';
import { FairSemaphore } from './fair-semaphore.ts';

/** Limits of threads and tasks (a thread whose task exceeds them is killed), and who is told of faults that are no task's. */
export interface ThreadOptions {
  /** Maximum duration of a task, without the start of its thread. Default: 5,000. */
  readonly deadlineMs?: number;
  /** Maximum concurrent tasks; further ones wait. Default: the machine's cores, at least 2 (with one, owners would wait for slow ones of others) and at most 4. */
  readonly maxThreads?: number;
  /** Maximum JavaScript heap of a thread, in MiB. Default: 256. */
  readonly maxHeapMb?: number;
  /**
   * How many tasks may wait for a thread; further ones are refused. So is a task of an owner of whom as many are waiting as waiting places are free. Default: no
   * limit, for callers that have their own.
   */
  readonly maxWaiting?: number;
  /** Called when a thread fails without a task, because it cannot be started, for example: the tasks that wait for one see only that none has. */
  readonly onError?: (error: unknown) => void;
}

/** How many steps a deadline is counted in. */
const STEPS = 10;

/** How many deadlines the start of a thread may take. On a machine that is short of CPU it takes seconds, which is nobody's fault. */
const DEADLINES_TO_START = 6;

/**
 * When a thread reaches its memory limit, V8 grants it another 16 MiB while Node terminates it; a thread that exceeds those at once crashes the whole process.
 * Promoting a young generation of the default size (48) can do that: 5 MiB of `<b>x</b>` did.
 */
const YOUNG_GENERATION_MB = 8;

/**
 * Worker threads for processing untrusted input, with limits on time and memory. Threads are started on demand; an idle thread does not keep the process alive.
 */
export class RenderingThreads<Task, Result> {
  private readonly deadlineMs: number;
  private readonly maxHeapMb: number;
  private readonly maxWaiting: number;
  private readonly onError: (error: unknown) => void;
  private readonly semaphore: FairSemaphore;
  private readonly pool: ThreadPool<Task, Result>;
  private closed = false;

  /**
   * @param module the URL of the module that the threads run; its default export is the function for a task
   * @param work what the threads do, as the subject of a sentence
   */
  constructor(
    module: string,
    private readonly work: string,
    options: ThreadOptions,
  ) {
    this.deadlineMs = options.deadlineMs ?? 5_000;
    const maxThreads = options.maxThreads ?? Math.min(Math.max(availableParallelism(), 2), 4);
    this.maxHeapMb = options.maxHeapMb ?? 256;
    this.maxWaiting = options.maxWaiting ?? Number.POSITIVE_INFINITY;
    this.onError = options.onError ?? (() => undefined);
    this.semaphore = new FairSemaphore(maxThreads);
    this.pool = new ThreadPool({
      module,
      maxThreads,
      resourceLimits: {
        maxOldGenerationSizeMb: this.maxHeapMb,
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
      },
      onError: this.onError,
    });
  }

  /**
   * Runs a task when a thread is free; owners are served round robin, and the last free one of several threads is given only to an owner that has none. The
   * deadline starts when the thread has begun the task, so it includes neither waiting for others nor the start of the thread.
   *
   * @param owner whose task it is
   * @param take called when a thread is free; returns the task, or undefined if there is none any more
   * @throws {@link RenderingFailed} when it exceeds the time or memory limit or fails, or (`busy`) when too many are waiting or no thread starts in time
   */
  async run(owner: string, take: () => Task | undefined): Promise<Result | undefined> {
    this.refuseIfFull(owner);
    const release = await this.semaphore.take(owner);
    try {
      const task = take();
      return task === undefined ? undefined : await this.runNow(task);
    } finally {
      release();
    }
  }

  /** Terminates the threads; current and later tasks fail. */
  async close(): Promise<void> {
    this.closed = true;
    await this.pool.close();
  }

  /** One owner can take at most half of the waiting places, a second one half of the rest, and so on: there is always a place for another owner. */
  private refuseIfFull(owner: string): void {
    const { waitingCount } = this.semaphore;
    if (waitingCount >= this.maxWaiting)
      throw new RenderingFailed('busy', `${this.work} waits behind ${this.maxWaiting} others`);
    const own = this.semaphore.waitingCountOf(owner);
    if (own >= this.maxWaiting - waitingCount)
      throw new RenderingFailed('busy', `${this.work} waits behind ${own} of the same workspace`);
  }

  private async runNow(task: Task): Promise<Result> {
    if (this.closed) throw new RenderingFailed('crash', `${this.work} is over: its threads have been closed`);
    const thread = this.takeThread();
    const { result, hasBegun } = thread.run(task);
    const cancelDeadline = this.startDeadline(hasBegun, (failure) => void thread.end(failure));
    try {
      return await result;
    } catch (error) {
      throw this.failure(error, hasBegun());
    } finally {
      cancelDeadline();
    }
  }

  private takeThread(): Thread<Task, Result> {
    try {
      return this.pool.take();
    } catch (error) {
      throw this.failure(error, false);
    }
  }

  /** Calls `giveUp` when the deadline has passed since the task began, or its thread has not started in time. @returns a function that cancels it */
  private startDeadline(hasBegun: () => boolean, giveUp: (failure: RenderingFailed) => void): () => void {
    const steps = { start: STEPS * DEADLINES_TO_START, task: STEPS };
    const countStep = (): void => {
      steps[hasBegun() ? 'task' : 'start'] -= 1;
      if (steps.task === 0) giveUp(this.tooSlow());
      else if (steps.start === 0) giveUp(this.notStarted());
      else cancel = startTimeout(this.deadlineMs / STEPS, countStep);
    };
    let cancel = startTimeout(this.deadlineMs / STEPS, countStep);
    return () => cancel();
  }

  private tooSlow(): RenderingFailed {
    return new RenderingFailed('deadline', `${this.work} took longer than ${this.deadlineMs} ms`);
  }

  private notStarted(): RenderingFailed {
    const withinMs = this.deadlineMs * DEADLINES_TO_START;
    const message = `${this.work} waits for a thread, and none has started within ${withinMs} ms`;
    return new RenderingFailed('busy', message);
  }

  private failure(cause: unknown, hasBegun: boolean): RenderingFailed {
    if (cause instanceof RenderingFailed) return cause;
    const { code, message = String(cause) } = Object(cause) as Partial<NodeJS.ErrnoException>;
    if (!hasBegun && !this.closed) {
      this.onError(cause);
      return new RenderingFailed('busy', `${this.work} waits for a thread, and none can be started`, {
        cause,
      });
    }
    if (code === 'ERR_WORKER_OUT_OF_MEMORY')
      return new RenderingFailed('memory', `${this.work} needs more than ${this.maxHeapMb} MiB of memory`, {
        cause,
      });
    return new RenderingFailed('crash', `${this.work} failed: ${message}`, { cause });
  }
}
