import type { ResourceLimits } from 'node:worker_threads';
import { Thread } from './thread.ts';

/** Idle threads end after this time: starting one costs more than most tasks. */
const IDLE_MS = 60_000;

export interface ThreadPoolOptions {
  /** The URL of the module that the threads run; its default export is the function for a task. */
  readonly module: string;
  readonly maxThreads: number;
  /** How many of the threads stay although they are idle. Default: none. */
  readonly minThreads?: number;
  readonly resourceLimits: ResourceLimits;
  /** Called when a thread dies that has no task, whose error would otherwise tell. */
  readonly onError: (error: unknown) => void;
}

/** Worker threads that are started on demand. They do not keep the process alive while they are idle. */
export class ThreadPool<Task, Result> {
  private readonly threads = new Map<Thread<Task, Result>, NodeJS.Timeout>();

  constructor(private readonly options: ThreadPoolOptions) {}

  /**
   * The thread for the next task: an idle one, or else a new one, or else the one with the fewest tasks.
   *
   * @throws when a new one cannot be started (`ERR_WORKER_INIT_FAILED`: the process or the machine may not have more)
   */
  take(): Thread<Task, Result> {
    const threads = [...this.threads.keys()].sort((one, other) => one.load - other.load);
    const [least] = threads;
    const isNewNeeded = least === undefined || (least.load > 0 && threads.length < this.options.maxThreads);
    return isNewNeeded ? this.start() : least;
  }

  /** Ends all threads; their tasks are rejected. */
  async close(): Promise<void> {
    await Promise.all([...this.threads.keys()].map((thread) => thread.end()));
  }

  private start(): Thread<Task, Result> {
    const { module, resourceLimits } = this.options;
    const thread: Thread<Task, Result> = new Thread(module, resourceLimits, {
      onIdle: () => this.threads.get(thread)?.refresh(),
      onEnd: (fault) => this.remove(thread, fault),
    });
    this.threads.set(thread, setTimeout(() => this.endIfIdle(thread), IDLE_MS).unref());
    return thread;
  }

  private endIfIdle(thread: Thread<Task, Result>): void {
    const { minThreads = 0 } = this.options;
    if (thread.load === 0 && this.threads.size > minThreads) void thread.end();
  }

  private remove(thread: Thread<Task, Result>, fault: unknown): void {
    clearTimeout(this.threads.get(thread));
    this.threads.delete(thread);
    if (fault !== undefined) this.options.onError(fault);
  }
}
