import { Coalescer, sleep } from '@posthorn/kernel';
import { type DatabaseFault, faultOf, hasRunOutOfTime, isOutage } from '@posthorn/database';

const MAX_OUTCOMES_PER_GROUP = 500;
const RETRY_DELAY_MS = 500;
/** An outcome that is rejected this often even without its details would be rejected for ever, and nothing would be claimed meanwhile. */
const MAX_REFUSALS_WITHOUT_DETAIL = 5;

interface OutcomeRecorderOptions<Outcome> {
  /**
   * Records outcomes; must be idempotent.
   *
   * @returns those that are not durable yet, because something that belongs to them is locked by somebody else, if any
   */
  readonly record: (outcomes: readonly Outcome[]) => Promise<ReadonlySet<Outcome>>;
  /** The outcome without the details that the database might reject. */
  readonly withoutDetail: (outcome: Outcome) => Outcome;
  readonly onError: (error: unknown) => void;
}

/** An outcome was given up: the database does not know it, and frees the row when its lease has expired. */
class OutcomeRefused extends Error {
  override readonly name = 'OutcomeRefused';

  constructor() {
    super('an outcome cannot be recorded, even without its details: its row is left to its lease');
  }
}

/**
 * Records the outcomes of claimed rows in groups. An outcome
 * - is retried while the database is down or statements fail for a fault of ours; meanwhile this process claims nothing (`isBehind`);
 * - is retried without holding up anything else while it is deferred, because something that belongs to it is locked;
 * - is given up when the database rejects its data even without details: the row is freed when its lease expires, as if its worker had died.
 */
export class OutcomeRecorder<Outcome> {
  /** Of each outcome, whether it was deferred. */
  private readonly groups: Coalescer<Outcome, boolean>;
  private isFailing = false;

  constructor(private readonly options: OutcomeRecorderOptions<Outcome>) {
    this.groups = new Coalescer({
      serve: (outcomes) => this.recordTogether(outcomes),
      maxItems: MAX_OUTCOMES_PER_GROUP,
    });
  }

  /** Resolves when the outcome is durable or given up. */
  async record(outcome: Outcome): Promise<void> {
    while (await this.groups.add(outcome)) await sleep(RETRY_DELAY_MS);
  }

  /** Whether outcomes wait because the database does not accept them. */
  get isBehind(): boolean {
    return this.isFailing;
  }

  /** A group that the database rejects is recorded one by one; a group that takes too long, in halves. */
  private async recordTogether(outcomes: readonly Outcome[]): Promise<boolean[]> {
    const deferred = await this.tryRecord(outcomes);
    if (typeof deferred !== 'string') return outcomes.map((outcome) => deferred.has(outcome));
    if (deferred === 'out of time') return this.recordByHalves(outcomes);
    if (outcomes.length === 1) return [await this.recordWithoutDetail(outcomes[0]!)];
    return (await Promise.all(outcomes.map((one) => this.recordTogether([one])))).flat();
  }

  private async recordByHalves(outcomes: readonly Outcome[]): Promise<boolean[]> {
    const half = Math.ceil(outcomes.length / 2);
    const first = await this.recordTogether(outcomes.slice(0, half));
    return [...first, ...(await this.recordTogether(outcomes.slice(half)))];
  }

  /** Details that the database rejects must not cost the outcome itself. */
  private async recordWithoutDetail(outcome: Outcome): Promise<boolean> {
    const withoutDetail = this.options.withoutDetail(outcome);
    for (let refusals = 0; refusals < MAX_REFUSALS_WITHOUT_DETAIL;) {
      this.isFailing = true;
      await sleep(RETRY_DELAY_MS);
      const deferred = await this.tryRecord([withoutDetail]);
      if (typeof deferred !== 'string') return deferred.size > 0;
      if (deferred === 'data') refusals += 1;
    }
    this.isFailing = false;
    this.options.onError(new OutcomeRefused());
    return false;
  }

  /** Retries for as long as that may succeed; otherwise resolves with the fault. */
  private async tryRecord(
    outcomes: readonly Outcome[],
  ): Promise<ReadonlySet<Outcome> | DatabaseFault | 'out of time'> {
    for (;;) {
      try {
        const deferred = await this.options.record(outcomes);
        this.isFailing = false;
        return deferred;
      } catch (error) {
        this.options.onError(error);
        // Retrying the whole group would time out again, and this process would record nothing any more.
        if (outcomes.length > 1 && hasRunOutOfTime(error)) return 'out of time';
        if (!isOutage(error)) return faultOf(error);
        this.isFailing = true;
        await sleep(RETRY_DELAY_MS);
      }
    }
  }
}
