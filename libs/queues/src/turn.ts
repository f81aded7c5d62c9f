import type { LaneDemand, LaneId } from '@posthorn/domain';
import { Coalescer, sleep, suspensionProofNowMs, within } from '@posthorn/kernel';
import type { LaneRings } from './lane-rings.ts';
import type { Workbench } from './workbench.ts';
import type { HeldRow } from './workbench-options.ts';

export interface TurnsOptions<Row extends HeldRow> {
  /** Maximum rows that a turn claims. */
  readonly rowsPerTurn: number;
  /** A turn of a lane with more work ends after this time at the latest, even if some of its rows are still being processed. */
  readonly handoverMs: number;
  /** Claims ready rows of several distinct lanes. */
  readonly claim: (demands: readonly LaneDemand[], maxBytesPerLane: number) => Promise<Row[]>;
  /** Whether this process may claim at all now. */
  readonly mayClaim: () => boolean;
  readonly bench: Pick<Workbench<Row, unknown>, 'capacity' | 'put' | 'waitForCapacity'>;
  readonly rings: Pick<LaneRings, 'ringAll' | 'ringSlot'>;
  /**
   * Called with the rows that a turn has claimed, if any, before they are processed. `startedAt` is `performance.now()` before the claim. The returned
   * function is called when all of the rows are done.
   */
  readonly onTurn?: ((laneId: LaneId, rows: readonly Row[], startedAt: number) => () => void) | undefined;
}

const POLL_MS = 20;

/** Prefix of the slots that the clock rings; a turn in such a slot rings all slots of a lane that has a backlog. */
export const CLOCK_SLOT = 'c';

interface Claimed<Row> {
  readonly rows: Row[];
  /** Before the claim, by `performance.now()`. */
  readonly startedAt: number;
  /** The same by the suspension-proof clock. */
  readonly claimedAt: number;
}

/**
 * Serves lanes in turns: claim rows, put them on the workbench, ring again if the lane has more. A turn that has emptied its lane ends at once; otherwise it
 * occupies its slot until its rows are done or `handoverMs` have passed, which is what bounds the share of a lane.
 */
export class Turns<Row extends HeldRow> {
  private readonly claims: Coalescer<LaneDemand, Claimed<Row>>;

  constructor(private readonly options: TurnsOptions<Row>) {
    this.claims = new Coalescer({ serve: (demands) => this.claimTogether(demands), maxItems: 200 });
  }

  /** Serves one turn of a lane. */
  async serve(laneId: LaneId, slot: string): Promise<void> {
    const { bench, handoverMs, rowsPerTurn } = this.options;
    // The clock rings a lane again that holds its full share now.
    if (!this.options.mayClaim() || bench.capacity.hasEnough(laneId)) return;
    let capacity = bench.capacity.reserve(laneId, rowsPerTurn);
    if (capacity === 0) {
      await bench.waitForCapacity(handoverMs);
      capacity = bench.capacity.reserve(laneId, rowsPerTurn);
    }
    if (capacity === 0) return this.ringAgain(laneId, slot);
    const { laneHasMore, done } = await this.claimInto(laneId, capacity);
    if (!laneHasMore) return;
    this.ringAgain(laneId, slot);
    await within(done, handoverMs);
  }

  /** Resolves when no claim is pending. */
  async settled(): Promise<void> {
    while (this.claims.pending > 0) await sleep(POLL_MS);
  }

  private async claimInto(
    laneId: LaneId,
    capacity: number,
  ): Promise<{ laneHasMore: boolean; done: Promise<void> }> {
    const { bench, onTurn } = this.options;
    const claimed = this.claims
      .add({ laneId, maxRows: capacity })
      .finally(() => bench.capacity.release(capacity));
    const { rows, startedAt, claimedAt } = await claimed;
    const onDone = rows.length > 0 ? onTurn?.(laneId, rows, startedAt) : undefined;
    const done = bench.put(rows, claimedAt);
    if (onDone !== undefined) void done.then(onDone);
    return { laneHasMore: rows.some((row) => row.laneHasMore), done };
  }

  private ringAgain(laneId: LaneId, slot: string): void {
    if (slot.startsWith(CLOCK_SLOT)) this.options.rings.ringAll(laneId);
    else this.options.rings.ringSlot(laneId, slot);
  }

  /** One statement for all turns that start together; if a lane has several of them, its rows are distributed among them. */
  private async claimTogether(demands: LaneDemand[]): Promise<Claimed<Row>[]> {
    const ofLane = new Map<LaneId, number>();
    for (const { laneId, maxRows } of demands) ofLane.set(laneId, (ofLane.get(laneId) ?? 0) + maxRows);
    const lanes = [...ofLane].map(([laneId, maxRows]) => ({ laneId, maxRows }));
    const [startedAt, claimedAt] = [performance.now(), suspensionProofNowMs()];
    const bytesPerLane = Math.floor(this.options.bench.capacity.bytesFree / lanes.length);
    const rows = await this.options.claim(lanes, bytesPerLane);
    const left = Map.groupBy(rows, (row) => row.laneId);
    return demands.map(({ laneId, maxRows }) => ({
      rows: left.get(laneId)?.splice(0, maxRows) ?? [],
      startedAt,
      claimedAt,
    }));
  }
}
