import type { Refusal } from './errors.ts';

export interface FewAtOnceOptions {
  /** How many works run at once. */
  readonly atOnce: number;
  /** How many wait for their turn at most: each of them is a request that holds a place which another could have. */
  readonly mostWaiting: number;
  /** What whoever comes on top is told. */
  readonly refusal: () => Refusal;
}

/** Lets few works run at once, one after the other as they came, and so keeps what is dear from taking all there is. */
export class FewAtOnce {
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(private readonly options: FewAtOnceOptions) {}

  /** Whether nothing runs, and so nothing waits. */
  get isIdle(): boolean {
    return this.running === 0;
  }

  /** Does the work when its turn has come. @throws Refusal when too many wait; what the work throws */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.turn();
    try {
      return await work();
    } finally {
      this.end();
    }
  }

  /** Resolves when it is one's turn, which {@link end} then ends. */
  private turn(): Promise<void> {
    if (this.running < this.options.atOnce) {
      this.running += 1;
      return Promise.resolve();
    }
    if (this.waiting.length >= this.options.mostWaiting) throw this.options.refusal();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** The turn goes to whoever waits the longest. */
  private end(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.running -= 1;
    else next();
  }
}

/** The same for each key: works of a key wait for each other, and for no others. */
export class FewAtOnceByKey<Key> {
  private readonly byKey = new Map<Key, FewAtOnce>();

  constructor(private readonly options: FewAtOnceOptions) {}

  /** As {@link FewAtOnce.run}, among the works of this key. */
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
