import { availableParallelism } from 'node:os';
import { startTimeout } from '@posthorn/kernel';
import { Piscina } from 'piscina';
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

/** What a thread is given. */
export interface ThreadInput<Task> {
  readonly task: Task;
  /** A number, which the thread sets to 1 when it begins the task. */
  readonly begun: Int32Array;
}

/** How many steps a deadline is counted in. */
const STEPS = 10;

/** How many deadlines the start of a thread may take. On a machine that is short of CPU it takes seconds, which is nobody's fault. */
const DEADLINES_TO_START = 6;

/** Idle timeout of a thread; long, because starting one costs more than most tasks. */
const IDLE_MS = 60_000;

/**
 * When a thread reaches its memory limit, V8 grants it another 16 MiB while Node terminates it; a thread that exceeds those at once crashes the whole process.
 * Promoting a young generation of the default size (48) can do that: 5 MiB of `<b>x</b>` did.
 */
const YOUNG_GENERATION_MB = 8;

/**
 * Worker threads for processing untrusted input, with limits on time and memory. Threads are started on demand; an idle thread does not keep the process alive.
 */
export class RenderingThreads<Task, Result> {
  private readonly maxThreads: number;
  private readonly deadlineMs: number;
  private readonly maxHeapMb: number;
  private readonly maxWaiting: number;
  private readonly onError: (error: unknown) => void;
  private readonly semaphore: FairSemaphore;
  private pool: Piscina<ThreadInput<Task>, Result> | undefined;
  private closed = false;

  /**
   * @param worker the module that the threads run; its default export is the function for a task
   * @param work what the threads do, as the subject of a sentence
   */
  constructor(
    private readonly worker: string,
    private readonly work: string,
    options: ThreadOptions,
  ) {
    this.deadlineMs = options.deadlineMs ?? 5_000;
    this.maxThreads = options.maxThreads ?? Math.min(Math.max(availableParallelism(), 2), 4);
    this.maxHeapMb = options.maxHeapMb ?? 256;
    this.maxWaiting = options.maxWaiting ?? Number.POSITIVE_INFINITY;
    this.onError = options.onError ?? (() => undefined);
    this.semaphore = new FairSemaphore(this.maxThreads);
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
    await this.pool?.destroy();
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
    this.pool ??= this.newPool();
    const begun = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const deadline = new AbortController();
    const cancelDeadline = this.startDeadline(begun, () => deadline.abort());
    try {
      return await this.pool.run({ task, begun }, { signal: deadline.signal });
    } catch (error) {
      throw deadline.signal.aborted ? this.timedOut(error, begun) : this.failure(error);
    } finally {
      cancelDeadline();
    }
  }

  /** Calls `giveUp` when the deadline has passed since the task began, or no thread has started in time. @returns a function that cancels it */
  private startDeadline(begun: Int32Array, giveUp: () => void): () => void {
    const steps = { start: STEPS * DEADLINES_TO_START, task: STEPS };
    const countStep = (): void => {
      steps[hasBegun(begun) ? 'task' : 'start'] -= 1;
      if (steps.task === 0 || steps.start === 0) giveUp();
      else cancel = startTimeout(this.deadlineMs / STEPS, countStep);
    };
    let cancel = startTimeout(this.deadlineMs / STEPS, countStep);
    return () => cancel();
  }

  private timedOut(cause: unknown, begun: Int32Array): RenderingFailed {
    const took = `${this.work} took longer than ${this.deadlineMs} ms`;
    if (hasBegun(begun)) return new RenderingFailed('deadline', took, { cause });
    const waits = `${this.work} waits for a thread, and none has started within ${this.deadlineMs * DEADLINES_TO_START} ms`;
    return new RenderingFailed('busy', waits, { cause });
  }

  private failure(cause: unknown): RenderingFailed {
    const { code, message: detail = String(cause) } = Object(cause) as Partial<NodeJS.ErrnoException>;
    if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
      const message = `${this.work} needs more than ${this.maxHeapMb} MiB of memory`;
      return new RenderingFailed('memory', message, { cause });
    }
    return new RenderingFailed('crash', `${this.work} failed: ${detail}`, { cause });
  }

  private newPool(): Piscina<ThreadInput<Task>, Result> {
    const pool = new Piscina<ThreadInput<Task>, Result>({
      filename: this.worker,
      minThreads: 0,
      maxThreads: this.maxThreads,
      idleTimeout: IDLE_MS,
      resourceLimits: {
        maxOldGenerationSizeMb: this.maxHeapMb,
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
      },
    });
    // A thread that fails between two tasks is replaced; without a listener, its error would end the process.
    pool.on('error', (error: unknown) => this.onError(error));
    return pool;
  }
}

const hasBegun = (begun: Int32Array): boolean => Atomics.load(begun, 0) === 1;
