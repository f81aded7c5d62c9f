import { Coalescer, sleep } from '@posthorn/kernel';
import { faultOf, isOutage } from '@posthorn/database';

const MOST_OUTCOMES_A_GROUP = 500;
const TRY_AGAIN_MS = 500;

export interface OutcomeRecorderOptions<Outcome> {
  /** Records outcomes; says for each whether its claim still held. Twice is once. */
  readonly record: (outcomes: readonly Outcome[]) => Promise<boolean[]>;
  /** The outcome without what the database may refuse of it. */
  readonly bare: (outcome: Outcome) => Outcome;
  readonly onError: (error: unknown) => void;
}

/**
 * Records what became of claimed rows, a group at a time. An outcome that is known is never dropped: while the database is away it
 * is kept and tried again, and this process claims nothing else before it is recorded.
 */
export class OutcomeRecorder<Outcome> {
  private readonly groups: Coalescer<Outcome, boolean>;
  private failing = false;

  constructor(private readonly options: OutcomeRecorderOptions<Outcome>) {
    this.groups = new Coalescer({
      serve: (outcomes) => this.recordTogether(outcomes),
      maxItems: MOST_OUTCOMES_A_GROUP,
    });
  }

  /** Resolves when the outcome is durable; says whether its claim still held. */
  record(outcome: Outcome): Promise<boolean> {
    return this.groups.add(outcome);
  }

  /** Whether outcomes wait because the database does not take them. */
  get isBehind(): boolean {
    return this.failing;
  }

  private async recordTogether(outcomes: Outcome[]): Promise<boolean[]> {
    for (;;) {
      try {
        const live = await this.options.record(outcomes);
        this.failing = false;
        return live;
      } catch (error) {
        this.options.onError(error);
        if (!isOutage(error) && faultOf(error) !== 'conflict') return this.recordOneByOne(outcomes);
        this.failing = true;
        await sleep(TRY_AGAIN_MS);
      }
    }
  }

  /** A detail that the database refuses must not cost the outcome: what counts is what became of its subject. */
  private async recordOneByOne(outcomes: Outcome[]): Promise<boolean[]> {
    if (outcomes.length > 1)
      return (await Promise.all(outcomes.map((one) => this.recordTogether([one])))).flat();
    this.failing = true;
    await sleep(TRY_AGAIN_MS);
    return this.recordTogether([this.options.bare(outcomes[0]!)]);
  }
}
