import type { ClaimedRow, ClaimCapacity } from '@posthorn/database';
import type { Workbench } from '@posthorn/queues';

/** A lane with so much of the room in hand gets nothing beside its own turns. */
const MAX_SHARE_PER_LANE = 1 / 4;
/** So many at once wait for room; who comes then goes on without it. */
const MAX_WAITING = 4;

interface SpareRoomOptions<Row extends ClaimedRow> {
  readonly bench: Pick<Workbench<Row, unknown>, 'capacity' | 'put' | 'waitForCapacity'>;
  /** Whether this process may claim at all just now. */
  readonly mayClaim: () => boolean;
  /** How many rows may be in hand. */
  readonly maxRows: number;
}

/** The room on a workbench, for rows that something else than a turn of their lanes claims: what makes them, while it makes them. */
export class SpareCapacity<Row extends ClaimedRow> {
  private readonly filling = new Set<Promise<unknown>>();
  private waiting = 0;

  constructor(private readonly options: SpareRoomOptions<Row>) {}

  /** Resolves when there is room for so many rows, half of all at most; after `withinMs`; or at once, when others wait already. */
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
   * Takes in hand what is claimed, resolving before it has been worked on.
   *
   * @param wanted at most for so many rows room is set aside
   * @param claim told how much room there is, none perhaps
   */
  async fill(wanted: number, claim: (capacity: ClaimCapacity) => Promise<readonly Row[]>): Promise<void> {
    const filling = this.claimInto(wanted, claim);
    this.filling.add(filling);
    try {
      await filling;
    } finally {
      this.filling.delete(filling);
    }
  }

  /** Resolves when nothing is being claimed. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.filling);
  }

  private async claimInto(
    wanted: number,
    claim: (capacity: ClaimCapacity) => Promise<readonly Row[]>,
  ): Promise<void> {
    const { bench, mayClaim, maxRows } = this.options;
    const rows = mayClaim() ? bench.capacity.reserveForAny(wanted) : 0;
    const excludedLanes = bench.capacity.lanesWith(maxRows * MAX_SHARE_PER_LANE);
    const claimedAt = performance.now();
    const claimed = await claim({ rows, bytes: bench.capacity.bytesFree, excludedLanes }).finally(() =>
      bench.capacity.releaseForAny(rows),
    );
    void bench.put(claimed, claimedAt);
  }
}
