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

/** An outcome that the database rejects on its own. */
interface Refused<Outcome> {
  readonly outcome: Outcome;
  readonly fault: DatabaseFault;
}

/** Those of a group that are not durable yet. */
interface Unrecorded<Outcome> {
  readonly deferred: readonly Outcome[];
  readonly refused: readonly Refused<Outcome>[];
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

  /** Those that the database refuses are tried again once all others of their group are durable. */
  private async recordTogether(outcomes: readonly Outcome[]): Promise<boolean[]> {
    const { deferred, refused } = await this.recordByHalves(outcomes);
    const again = new Set([...deferred, ...(await this.recordWithoutDetail(refused))]);
    return outcomes.map((outcome) => again.has(outcome));
  }

  /** A group that takes too long, or that the database rejects, is recorded in halves. */
  private async recordByHalves(outcomes: readonly Outcome[]): Promise<Unrecorded<Outcome>> {
    const deferred = await this.tryRecord(outcomes);
    if (typeof deferred !== 'string') return { deferred: [...deferred], refused: [] };
    if (outcomes.length === 1) return { deferred: [], refused: [{ outcome: outcomes[0]!, fault: deferred }] };
    const half = Math.ceil(outcomes.length / 2);
    const first = await this.recordByHalves(outcomes.slice(0, half));
    const second = await this.recordByHalves(outcomes.slice(half));
    return {
      deferred: [...first.deferred, ...second.deferred],
      refused: [...first.refused, ...second.refused],
    };
  }

  /** Details that the database rejects must not cost the outcomes themselves. @returns those that are deferred */
  private async recordWithoutDetail(refused: readonly Refused<Outcome>[]): Promise<Outcome[]> {
    const { withoutDetail, onError } = this.options;
    const originals = new Map(refused.map(({ outcome }) => [withoutDetail(outcome), outcome]));
    const deferred: Outcome[] = [];
    let open = [...originals.keys()];
    for (let refusals = 0; open.length > 0 && refusals < MAX_REFUSALS_WITHOUT_DETAIL;) {
      this.isFailing = true;
      await sleep(RETRY_DELAY_MS);
      const rest = await this.recordByHalves(open);
      deferred.push(...rest.deferred.map((outcome) => originals.get(outcome)!));
      open = rest.refused.map(({ outcome }) => outcome);
      // While one of them fails for a fault of ours, nothing is claimed anyway.
      if (rest.refused.every(({ fault }) => fault === 'data')) refusals += 1;
    }
    for (const _givenUp of open) onError(new OutcomeRefused());
    this.isFailing = false;
    return deferred;
  }

  /** Retries for as long as that may succeed; otherwise resolves with the fault. */
  private async tryRecord(outcomes: readonly Outcome[]): Promise<ReadonlySet<Outcome> | DatabaseFault> {
    for (;;) {
      try {
        const deferred = await this.options.record(outcomes);
        this.isFailing = false;
        return deferred;
      } catch (error) {
        this.options.onError(error);
        this.isFailing = true;
        // Retrying the whole group would time out again, and this process would record nothing any more.
        const mayFitInHalves = outcomes.length > 1 && hasRunOutOfTime(error);
        if (mayFitInHalves || !isOutage(error)) return faultOf(error);
        await sleep(RETRY_DELAY_MS);
      }
    }
  }
}
