import { availableParallelism } from 'node:os';
import { startTimeout } from '@posthorn/kernel';
import { Piscina } from 'piscina';
import { RenderingFailed } from './rendering-failed.ts';
import { Slots } from './slots.ts';

/** How much one task of a thread may take before the thread is killed. */
export interface ThreadLimits {
  /** How long one task may take, the start of its thread included. Default: 5,000. */
  readonly deadlineMs?: number;
  /** How many tasks may run at once; further ones wait their turn. Default: the machine's cores, at most 4. */
  readonly maxThreads?: number;
  /** How much memory the JavaScript of one thread may hold, in MiB. Default: 256. */
  readonly maxHeapMb?: number;
  /**
   * How many tasks may wait for a thread; further ones are turned away, and so are those of an owner of whom as many wait as places are
   * free. Default: any number, for those who bound it themselves.
   */
  readonly maxWaiting?: number;
}

/** An idle thread is kept this long, because starting one costs more than most tasks. */
const IDLE_MS = 60_000;

/**
 * Node ends a thread that reaches its memory limit gently, with 16 MiB to spare; a thread that takes more than those
 * at one stroke takes the whole process with it. Moving a young generation of the default size (48) into the old one
 * is such a stroke: 5 MiB of `<b>x</b>` did it.
 */
const YOUNG_GENERATION_MB = 8;

/**
 * Threads for work on what comes from outside: what takes for ever or fills the memory must harm nobody else. The first
 * task starts the first thread; an idle thread keeps no process alive.
 */
export class RenderingThreads<Task, Result> {
  private readonly maxThreads: number;
  // Written out, so that Node can run the source as it is.
  private readonly worker: string;
  private readonly work: string;
  private readonly deadlineMs: number;
  private readonly maxHeapMb: number;
  private readonly maxWaiting: number;
  private readonly slots: Slots;
  private pool: Piscina<Task, Result> | undefined;
  private closed = false;

  /**
   * @param worker the module that the threads run, beside this one; it exports a function as its default
   * @param work what the threads do, as the subject of a sentence
   */
  constructor(worker: string, work: string, limits: ThreadLimits) {
    this.worker = worker;
    this.work = work;
    this.deadlineMs = limits.deadlineMs ?? 5_000;
    this.maxThreads = limits.maxThreads ?? Math.min(availableParallelism(), 4);
    this.maxHeapMb = limits.maxHeapMb ?? 256;
    this.maxWaiting = limits.maxWaiting ?? Number.POSITIVE_INFINITY;
    this.slots = new Slots(this.maxThreads);
  }

  /**
   * Does a task when a thread is free, one of each owner in turn. The deadline counts from that moment, so nobody pays for who came before.
   *
   * @param owner whose it is
   * @param take gives the task when it is its turn; undefined: there is none any more
   * @throws {@link RenderingFailed} when it takes too long, needs too much memory or cannot be done, or when too many wait
   */
  async run(owner: string, take: () => Task | undefined): Promise<Result | undefined> {
    this.refuseWhileFull(owner);
    const release = await this.slots.take(owner);
    try {
      const task = take();
      return task === undefined ? undefined : await this.runNow(task);
    } finally {
      release();
    }
  }

  /** Ends the threads; tasks under way or asked for later fail. */
  async close(): Promise<void> {
    this.closed = true;
    await this.pool?.destroy();
  }

  /** Half of the places for the first that wants all of them, half of the rest for the second: whoever else comes finds one. */
  private refuseWhileFull(owner: string): void {
    const { waiters } = this.slots;
    if (waiters >= this.maxWaiting)
      throw new RenderingFailed('busy', `${this.work} waits behind ${this.maxWaiting} others`);
    const own = this.slots.waitersOf(owner);
    if (own > 0 && own >= this.maxWaiting - waiters)
      throw new RenderingFailed('busy', `${this.work} waits behind ${own} of the same workspace`);
  }

  private async runNow(task: Task): Promise<Result> {
    if (this.closed) throw new RenderingFailed('crash', `${this.work} is over: its threads have been closed`);
    this.pool ??= this.newPool();
    const deadline = new AbortController();
    const cancelTimeout = startTimeout(this.deadlineMs, () => deadline.abort());
    try {
      return await this.pool.run(task, { signal: deadline.signal });
    } catch (error) {
      throw this.failure(error, deadline.signal.aborted);
    } finally {
      cancelTimeout();
    }
  }

  private failure(cause: unknown, timedOut: boolean): RenderingFailed {
    if (timedOut) {
      const message = `${this.work} took longer than ${this.deadlineMs} ms`;
      return new RenderingFailed('deadline', message, { cause });
    }
    const { code, message: detail = String(cause) } = Object(cause) as Partial<NodeJS.ErrnoException>;
    if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
      const message = `${this.work} needs more than ${this.maxHeapMb} MiB of memory`;
      return new RenderingFailed('memory', message, { cause });
    }
    return new RenderingFailed('crash', `${this.work} failed: ${detail}`, { cause });
  }

  private newPool(): Piscina<Task, Result> {
    const pool = new Piscina<Task, Result>({
      filename: this.worker,
      minThreads: 0,
      maxThreads: this.maxThreads,
      idleTimeout: IDLE_MS,
      resourceLimits: {
        maxOldGenerationSizeMb: this.maxHeapMb,
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
      },
    });
    // A thread that fails between two tasks is replaced; unheard, its error would end the process.
    pool.on('error', () => undefined);
    return pool;
  }
}
