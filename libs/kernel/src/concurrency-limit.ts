import type { Refusal } from './errors.ts';

export interface ConcurrencyLimitOptions {
  /** How many tasks may run at once. */
  readonly maxConcurrent: number;
  /** How many may wait: each waiting request takes one of the requests that the server may have in flight. */
  readonly maxWaiting: number;
  /** Creates the refusal for requests beyond that. */
  readonly refusal: () => Refusal;
}

/** Limits how many expensive tasks run concurrently in this process; first come, first served. */
export class ConcurrencyLimit {
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(private readonly options: ConcurrencyLimitOptions) {}

  /** Whether nothing runs (and therefore nothing waits). */
  get isIdle(): boolean {
    return this.running === 0;
  }

  /** Runs a task as soon as the limit allows. @throws Refusal when too many are waiting; whatever the task throws */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.turn();
    try {
      return await work();
    } finally {
      this.end();
    }
  }

  /** Resolves when the caller may run; it must call {@link end} afterwards. */
  private turn(): Promise<void> {
    if (this.running < this.options.maxConcurrent) {
      this.running += 1;
      return Promise.resolve();
    }
    if (this.waiting.length >= this.options.maxWaiting) throw this.options.refusal();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Lets the longest-waiting task run. */
  private end(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.running -= 1;
    else next();
  }
}

/** A {@link ConcurrencyLimit} for each key: tasks wait only for tasks with the same key. */
export class KeyedConcurrencyLimit<Key> {
  private readonly byKey = new Map<Key, ConcurrencyLimit>();

  constructor(private readonly options: ConcurrencyLimitOptions) {}

  /** As {@link ConcurrencyLimit.run}, among the tasks of this key. */
  async run<Result>(key: Key, work: () => Promise<Result>): Promise<Result> {
    const limit = this.byKey.get(key) ?? new ConcurrencyLimit(this.options);
    this.byKey.set(key, limit);
    try {
      return await limit.run(work);
    } finally {
      if (limit.isIdle && this.byKey.get(key) === limit) this.byKey.delete(key);
    }
  }
}
