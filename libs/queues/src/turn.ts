import type { LaneId } from '@posthorn/domain';
import { Coalescer, sleep } from '@posthorn/kernel';
import type { LaneRings } from './lane-rings.ts';
import type { Workbench } from './workbench.ts';
import type { HeldRow } from './workbench-options.ts';

export interface LaneDemand {
  readonly laneId: LaneId;
  readonly maxRows: number;
}

export interface TurnsOptions<Row extends HeldRow> {
  /** How many rows a turn claims at most. */
  readonly rowsPerTurn: number;
  /** A turn of a lane that has more to do ends after this, though some of its rows are still in work. */
  readonly handoverMs: number;
  /** Claims ready rows of several lanes, none of which is named twice. */
  readonly claim: (demands: readonly LaneDemand[], maxBytesPerLane: number) => Promise<Row[]>;
  /** Whether this process may claim at all just now. */
  readonly mayClaim: () => boolean;
  readonly bench: Pick<Workbench<Row, unknown>, 'room' | 'put' | 'untilRoom'>;
  readonly rings: Pick<LaneRings, 'ringAll' | 'ringSlot'>;
  /**
   * Told what a turn has claimed, if anything, before it is worked on, and when that began by `performance.now()`; what it gives back is called
   * when all of it is done.
   */
  readonly onTurn?: ((laneId: LaneId, rows: readonly Row[], claimedAt: number) => () => void) | undefined;
}

const LOOK_AGAIN_MS = 20;

/** The slots of the clock's own rings begin with this; such a turn rings all slots of a lane that has a backlog. */
export const CLOCK_SLOT = 'c';

interface Claimed<Row> {
  readonly rows: Row[];
  readonly claimedAt: number;
}

/**
 * Serves lanes a turn at a time: claim, hand to the workbench, ring again if rows were left, end. A turn that has emptied its lane ends
 * at once; one that has not holds its slot until its rows are done or the handover is due, which is what bounds a lane's share.
 */
export class Turns<Row extends HeldRow> {
  private readonly claims: Coalescer<LaneDemand, Claimed<Row>>;

  constructor(private readonly options: TurnsOptions<Row>) {
    this.claims = new Coalescer({ serve: (demands) => this.claimTogether(demands), maxItems: 200 });
  }

  /** Serves one turn of a lane. */
  async serve(laneId: LaneId, slot: string): Promise<void> {
    const { bench, handoverMs, rowsPerTurn } = this.options;
    // The clock rings again for what is left of a lane that has its share in hand.
    if (!this.options.mayClaim() || bench.room.hasEnough(laneId)) return;
    let room = bench.room.reserve(laneId, rowsPerTurn);
    if (room === 0) {
      await bench.untilRoom(handoverMs);
      room = bench.room.reserve(laneId, rowsPerTurn);
    }
    if (room === 0) return this.ringAgain(laneId, slot);
    const { laneHasMore, done } = await this.claimInto(laneId, room);
    if (!laneHasMore) return;
    this.ringAgain(laneId, slot);
    await Promise.race([done, sleep(handoverMs)]);
  }

  /** Resolves when no claim is under way. */
  async settled(): Promise<void> {
    while (this.claims.pending > 0) await sleep(LOOK_AGAIN_MS);
  }

  private async claimInto(
    laneId: LaneId,
    room: number,
  ): Promise<{ laneHasMore: boolean; done: Promise<void> }> {
    const { bench, onTurn } = this.options;
    const claimed = this.claims.add({ laneId, maxRows: room }).finally(() => bench.room.release(room));
    const { rows, claimedAt } = await claimed;
    const onDone = rows.length > 0 ? onTurn?.(laneId, rows, claimedAt) : undefined;
    const done = bench.put(rows, claimedAt);
    if (onDone !== undefined) void done.then(onDone, onDone);
    return { laneHasMore: rows.some((row) => row.laneHasMore), done };
  }

  private ringAgain(laneId: LaneId, slot: string): void {
    if (slot.startsWith(CLOCK_SLOT)) this.options.rings.ringAll(laneId);
    else this.options.rings.ringSlot(laneId, slot);
  }

  /** One statement for the turns that start together; a lane with several of them is named once and its rows dealt out. */
  private async claimTogether(demands: LaneDemand[]): Promise<Claimed<Row>[]> {
    const ofLane = new Map<LaneId, number>();
    for (const { laneId, maxRows } of demands) ofLane.set(laneId, (ofLane.get(laneId) ?? 0) + maxRows);
    const lanes = [...ofLane].map(([laneId, maxRows]) => ({ laneId, maxRows }));
    const claimedAt = performance.now();
    const bytesPerLane = Math.floor(this.options.bench.room.bytesFree / lanes.length);
    const rows = await this.options.claim(lanes, bytesPerLane);
    const left = Map.groupBy(rows, (row) => row.laneId);
    return demands.map(({ laneId, maxRows }) => ({
      rows: left.get(laneId)?.splice(0, maxRows) ?? [],
      claimedAt,
    }));
  }
}
