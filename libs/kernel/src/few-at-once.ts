import type { Refusal } from './errors.ts';

export interface FewAtOnceOptions {
  /** How many run at once. */
  readonly atOnce: number;
  /** How many may wait for their turn: each is a request that holds a place in flight which another could have. */
  readonly maxWaiting: number;
  /** Makes the refusal for any more than that. */
  readonly refusal: () => Refusal;
}

/** Runs a limited number of expensive tasks at once, first come, first served, so that they cannot use up a process. */
export class FewAtOnce {
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(private readonly options: FewAtOnceOptions) {}

  /** Whether nothing runs, and so nothing waits. */
  get isIdle(): boolean {
    return this.running === 0;
  }

  /** Runs a task when its turn has come. @throws Refusal when too many wait; what the task throws */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.turn();
    try {
      return await work();
    } finally {
      this.end();
    }
  }

  /** Resolves when the caller's turn has come; {@link end} ends it. */
  private turn(): Promise<void> {
    if (this.running < this.options.atOnce) {
      this.running += 1;
      return Promise.resolve();
    }
    if (this.waiting.length >= this.options.maxWaiting) throw this.options.refusal();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Passes the turn on to the one that has waited the longest. */
  private end(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.running -= 1;
    else next();
  }
}

/** The same for each key: tasks wait only for those of the same key. */
export class FewAtOnceByKey<Key> {
  private readonly byKey = new Map<Key, FewAtOnce>();

  constructor(private readonly options: FewAtOnceOptions) {}

  /** As {@link FewAtOnce.run}, among the tasks of this key. */
  async run<Result>(key: Key, work: () => Promise<Result>): Promise<Result> {
    const few = this.byKey.get(key) ?? new FewAtOnce(this.options);
    this.byKey.set(key, few);
    try {
      return await few.run(work);
    } finally {
      if (few.isIdle && this.byKey.get(key) === few) this.byKey.delete(key);
    }
  }
}
