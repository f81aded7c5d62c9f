import { Coalescer, sleep } from '@posthorn/kernel';
import { type DatabaseFault, faultOf, hasRunOutOfTime, isOutage } from '@posthorn/database';

const MAX_OUTCOMES_PER_GROUP = 500;
const TRY_AGAIN_MS = 500;
/** An outcome whose data is refused so often even when it is bare would be refused for ever, and nothing would be claimed meanwhile. */
const MAX_REFUSALS_WITHOUT_DETAIL = 5;

/** Whether the claim of an outcome that is durable still held; `put off`: it is not durable, because somebody holds what goes with it. */
export type Recorded = boolean | 'put off';

interface OutcomeRecorderOptions<Outcome> {
  /** Records outcomes; says for each what came of it. Twice is once. */
  readonly record: (outcomes: readonly Outcome[]) => Promise<Recorded[]>;
  /** The outcome without what the database may refuse of it. */
  readonly bare: (outcome: Outcome) => Outcome;
  readonly onError: (error: unknown) => void;
}

/** An outcome was given up: what became of its row is not known to the database, which frees it when its lease has ended. */
class OutcomeRefused extends Error {
  override readonly name = 'OutcomeRefused';

  constructor() {
    super('an outcome cannot be recorded, even without its details: its row is left to its lease');
  }
}

/**
 * Records what became of claimed rows, a group at a time. An outcome that is known is not dropped while the database is away: it
 * is kept and tried again, and this process claims nothing else before it is recorded. So it is while statements fail for a fault of ours, which
 * would fail for the next rows too. One that is put off is tried again by itself, and holds nothing else up. One whose data the database refuses in any form is left to its lease, as if its worker had died.
 */
export class OutcomeRecorder<Outcome> {
  private readonly groups: Coalescer<Outcome, Recorded>;
  private failing = false;

  constructor(private readonly options: OutcomeRecorderOptions<Outcome>) {
    this.groups = new Coalescer({
      serve: (outcomes) => this.recordTogether(outcomes),
      maxItems: MAX_OUTCOMES_PER_GROUP,
    });
  }

  /** Resolves when the outcome is durable, or given up; says whether it is durable and its claim still held. */
  async record(outcome: Outcome): Promise<boolean> {
    for (;;) {
      const recorded = await this.groups.add(outcome);
      if (recorded !== 'put off') return recorded;
      await sleep(TRY_AGAIN_MS);
    }
  }

  /** Whether outcomes wait because the database does not take them. */
  get isBehind(): boolean {
    return this.failing;
  }

  /** What the database refuses of a group it may take one by one, and what takes it too long half by half. */
  private async recordTogether(outcomes: Outcome[]): Promise<Recorded[]> {
    const live = await this.tryToRecord(outcomes);
    if (Array.isArray(live)) return live;
    if (live === 'out of time') return this.recordByHalves(outcomes);
    if (outcomes.length === 1) return [await this.recordBare(outcomes[0]!)];
    return (await Promise.all(outcomes.map((one) => this.recordTogether([one])))).flat();
  }

  private async recordByHalves(outcomes: Outcome[]): Promise<Recorded[]> {
    const half = Math.ceil(outcomes.length / 2);
    const first = await this.recordTogether(outcomes.slice(0, half));
    return [...first, ...(await this.recordTogether(outcomes.slice(half)))];
  }

  /** A detail that the database refuses must not cost the outcome: what counts is what became of its subject. */
  private async recordBare(outcome: Outcome): Promise<Recorded> {
    const bare = this.options.bare(outcome);
    for (let refusals = 0; refusals < MAX_REFUSALS_WITHOUT_DETAIL;) {
      this.failing = true;
      await sleep(TRY_AGAIN_MS);
      const live = await this.tryToRecord([bare]);
      if (Array.isArray(live)) return live[0]!;
      if (live === 'data') refusals += 1;
    }
    this.failing = false;
    this.options.onError(new OutcomeRefused());
    return false;
  }

  /** Tries for as long as the same may succeed later; else gives what is wrong. */
  private async tryToRecord(
    outcomes: readonly Outcome[],
  ): Promise<Recorded[] | DatabaseFault | 'out of time'> {
    for (;;) {
      try {
        const live = await this.options.record(outcomes);
        this.failing = false;
        return live;
      } catch (error) {
        this.options.onError(error);
        // The same again would take as long again, and nothing be recorded by this process any more.
        if (outcomes.length > 1 && hasRunOutOfTime(error)) return 'out of time';
        const fault = faultOf(error);
        if (!isOutage(error) && fault !== 'conflict') return fault;
        this.failing = true;
        await sleep(TRY_AGAIN_MS);
      }
    }
  }
}
