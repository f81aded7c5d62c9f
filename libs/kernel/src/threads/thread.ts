import { type ResourceLimits, Worker } from 'node:worker_threads';
import { workerUrl } from '../worker-url.ts';

/** What a thread is sent. */
export interface ThreadMessage {
  readonly task: unknown;
  /** Shared memory, whose first number the thread sets to 1 when it begins the task. */
  readonly begun: Int32Array;
}

/** What a thread answers to each message, in their order. */
export type ThreadAnswer = { readonly result: unknown } | { readonly error: unknown };

/** A task of a thread, from the moment it was given. */
export interface ThreadTask<Result> {
  /** Rejects with what the task threw, or with what ended the thread. */
  readonly result: Promise<Result>;
  /** Whether the thread has begun it. False if the thread is still starting, is at an earlier task, or could not start. */
  readonly hasBegun: () => boolean;
}

/** What a thread tells its pool. */
export interface ThreadListener {
  /** It has no task any more. */
  readonly onIdle: () => void;
  /** It has ended. With what it died of, if it had no task that was rejected with that. */
  readonly onEnd: (fault: unknown) => void;
}

/** A worker thread that runs tasks in their order. It keeps the process alive only while it has one. */
export class Thread<Task, Result> {
  private readonly worker: Worker;
  private readonly tasks: PromiseWithResolvers<Result>[] = [];
  private isOver = false;

  /**
   * @param module the URL of a module that exports the function for a task by default
   * @throws when the operating system gives no thread (`ERR_WORKER_INIT_FAILED`). A module that cannot be loaded is noticed later, and ends the thread
   */
  constructor(
    module: string,
    resourceLimits: ResourceLimits,
    private readonly listener: ThreadListener,
  ) {
    const entry = new URL(workerUrl(import.meta.url, 'thread.worker'));
    this.worker = new Worker(entry, { workerData: module, resourceLimits });
    this.worker.unref();
    this.worker.on('message', (answer: ThreadAnswer) => this.settle(answer));
    const die = (fault: Error): void => this.giveUp(fault, fault);
    this.worker.on('error', die);
    this.worker.on('exit', (code) => die(new Error(`its thread ended with exit code ${code}`)));
  }

  /** How many tasks it has. */
  get load(): number {
    return this.tasks.length;
  }

  run(task: Task): ThreadTask<Result> {
    const begun = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const settled = Promise.withResolvers<Result>();
    this.worker.postMessage({ task, begun } satisfies ThreadMessage);
    this.worker.ref();
    this.tasks.push(settled);
    return { result: settled.promise, hasBegun: () => Atomics.load(begun, 0) === 1 };
  }

  /** Ends it, even in the middle of a task, and rejects its tasks with `reason`. */
  async end(reason: Error = new Error('its thread was ended')): Promise<void> {
    const ended = this.worker.terminate();
    this.giveUp(reason);
    await ended;
  }

  private settle(answer: ThreadAnswer): void {
    const task = this.tasks.shift();
    // It has been told to end meanwhile.
    if (task === undefined) return;
    if ('error' in answer) task.reject(answer.error);
    else task.resolve(answer.result as Result);
    if (this.tasks.length > 0) return;
    this.worker.unref();
    this.listener.onIdle();
  }

  /** @param reason what the tasks are rejected with @param fault what it died of, unless it was told to end */
  private giveUp(reason: Error, fault?: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    const tasks = this.tasks.splice(0);
    for (const task of tasks) task.reject(reason);
    this.listener.onEnd(tasks.length === 0 ? fault : undefined);
  }
}
