import { suspensionProofNowMs } from '@posthorn/kernel';
import type { ClaimedRow, ClaimCapacity } from '@posthorn/database';
import type { Workbench } from '@posthorn/queues';

/** A lane that holds this share of the capacity gets rows only through its own turns. */
const MAX_SHARE_PER_LANE = 1 / 4;
/** This many callers may wait for capacity; any more continue without it. */
const MAX_WAITING = 4;

interface SpareCapacityOptions<Row extends ClaimedRow> {
  readonly bench: Pick<Workbench<Row, unknown>, 'capacity' | 'put' | 'waitForCapacity'>;
  /** Whether this process may claim at all now. */
  readonly mayClaim: () => boolean;
  /** How many rows may be held. */
  readonly maxRows: number;
}

/** The result of a statement that claims rows, among other things. */
interface Claimed<Row> {
  readonly claimed: readonly Row[];
}

/** Lets code that creates rows claim some of them at once for this process's workbench, without a turn of their lane. */
export class SpareCapacity<Row extends ClaimedRow> {
  private readonly filling = new Set<Promise<unknown>>();
  private waiting = 0;

  constructor(private readonly options: SpareCapacityOptions<Row>) {}

  /**
   * Resolves when there is capacity for this many rows (for half of the workbench, if they are more), after `withinMs` at the latest, and at once when
   * enough others wait already.
   */
  async waitForCapacityFor(wanted: number, withinMs: number): Promise<void> {
    const { bench, maxRows } = this.options;
    if (this.waiting >= MAX_WAITING) return;
    const deadline = performance.now() + withinMs;
    this.waiting += 1;
    for (let left = withinMs; left > 0; left = deadline - performance.now()) {
      if (bench.capacity.rowsFree >= Math.min(wanted, maxRows / 2)) break;
      await bench.waitForCapacity(left);
    }
    this.waiting -= 1;
  }

  /**
   * Puts claimed rows on the workbench; resolves before they have been processed.
   *
   * @param wanted the maximum number of rows
   * @param claim called with the capacity available, which may be none
   * @returns what `claim` has resolved with
   */
  async fill<Result extends Claimed<Row>>(
    wanted: number,
    claim: (capacity: ClaimCapacity) => Promise<Result>,
  ): Promise<Result> {
    const filling = this.claimInto(wanted, claim);
    this.filling.add(filling);
    try {
      return await filling;
    } finally {
      this.filling.delete(filling);
    }
  }

  /** Resolves when no claim is under way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.filling);
  }

  private async claimInto<Result extends Claimed<Row>>(
    wanted: number,
    claim: (capacity: ClaimCapacity) => Promise<Result>,
  ): Promise<Result> {
    const { bench, mayClaim, maxRows } = this.options;
    const rows = mayClaim() ? bench.capacity.reserveForAny(wanted) : 0;
    const excludedLanes = bench.capacity.lanesWith(maxRows * MAX_SHARE_PER_LANE);
    const claimedAt = suspensionProofNowMs();
    const result = await claim({ rows, bytes: bench.capacity.bytesFree, excludedLanes }).finally(() =>
      bench.capacity.releaseForAny(rows),
    );
    void bench.put(result.claimed, claimedAt);
    return result;
  }
}
