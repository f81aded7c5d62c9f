export interface ConcurrencyLimitOptions {
  /** How many tasks may run at once. */
  readonly maxConcurrent: number;
  /** How many may wait: each waiting request takes one of the requests that the server may have in flight. */
  readonly maxWaiting: number;
  /** Creates the error for requests beyond that, and for those whose caller has gone while they wait. */
  readonly refusal: () => Error;
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

  /**
   * Runs a task as soon as the limit allows.
   *
   * @param gone aborted when the caller has probably gone: the task then does not wait any longer; one that runs is not interrupted
   * @throws the refusal when too many are waiting, or the caller has gone before the task could run; whatever the task throws
   */
  async run<Result>(work: () => Promise<Result>, gone?: AbortSignal): Promise<Result> {
    await this.turn(gone);
    try {
      return await work();
    } finally {
      this.end();
    }
  }

  /** Resolves when the caller may run; it must call {@link end} afterwards. */
  private turn(gone?: AbortSignal): Promise<void> {
    if (this.running < this.options.maxConcurrent) {
      this.running += 1;
      return Promise.resolve();
    }
    if (gone?.aborted || this.waiting.length >= this.options.maxWaiting) throw this.options.refusal();
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        gone?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.waiting.splice(this.waiting.indexOf(begin), 1);
        reject(this.options.refusal());
      };
      gone?.addEventListener('abort', giveUp, { once: true });
      this.waiting.push(begin);
    });
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
  async run<Result>(key: Key, work: () => Promise<Result>, gone?: AbortSignal): Promise<Result> {
    const limit = this.byKey.get(key) ?? new ConcurrencyLimit(this.options);
    this.byKey.set(key, limit);
    try {
      return await limit.run(work, gone);
    } finally {
      if (limit.isIdle && this.byKey.get(key) === limit) this.byKey.delete(key);
    }
  }
}

/** A {@link ConcurrencyLimit} that no key can use up: of each, one task at a time takes part, and `maxWaiting` tasks may wait for it. */
export class FairConcurrencyLimit<Key> {
  private readonly all: ConcurrencyLimit;
  private readonly ofEach: KeyedConcurrencyLimit<Key>;

  constructor(options: ConcurrencyLimitOptions) {
    this.all = new ConcurrencyLimit(options);
    this.ofEach = new KeyedConcurrencyLimit({ ...options, maxConcurrent: 1 });
  }

  /** As {@link ConcurrencyLimit.run}, for a task of this key. */
  run<Result>(key: Key, work: () => Promise<Result>, gone?: AbortSignal): Promise<Result> {
    return this.ofEach.run(key, () => this.all.run(work, gone), gone);
  }
}
