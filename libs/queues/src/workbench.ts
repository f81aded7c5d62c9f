import { type LaneId } from '@posthorn/domain';
import { LaneCounts } from './lane-counts.ts';
import { LaneLines } from './lane-lines.ts';

/** A claimed row, as far as the workbench cares. */
export interface HeldRow {
  readonly id: string;
  readonly laneId: LaneId;
  /** The fencing token. */
  readonly claims: number;
  readonly bytes: number;
  /** Whether the claim left ready rows of this lane behind. */
  readonly laneHasMore: boolean;
}

export interface WorkbenchOptions<Row extends HeldRow, Outcome> {
  /** How many rows are worked on at once. */
  readonly concurrency: number;
  /** About how many rows may be in hand, those in work included. */
  readonly maxRows: number;
  /** About how many bytes may be in hand. */
  readonly maxBytes: number;
  /** How many rows of one lane may be in hand. Default: as many as there is room for. */
  readonly maxRowsPerLane?: number;
  /**
   * How many places a lane may have, so that one that hangs leaves some to the others; and none gets another while it has as many as are
   * free, so that several that hang leave some too. Default: all of them, to whoever comes first.
   */
  readonly maxPlacesPerLane?: number;
  /** How many rows of a lane that has nothing in hand there is always room for, however full the bench is: nobody waits behind a backlog. */
  readonly rowsForANewLane?: number;
  /** How long a confirmed lease lasts, in milliseconds. */
  readonly leaseMs: number;
  readonly renewalMs: number;
  /** No work begins with less of its lease left. */
  readonly marginMs: number;
  /**
   * Does the work; undefined: it was not begun, and the row is given back. `mayStillBegin` is to be asked when preparations are
   * over: whether enough of the lease is left. `leavePlace` may be called when the work turns out to be no more than waiting: it goes on
   * without its place, unless half of the rows that there is room for do so already.
   */
  readonly work: (
    row: Row,
    mayStillBegin: () => boolean,
    leavePlace: () => void,
  ) => Promise<Outcome | undefined>;
  /** Makes the outcome durable. The row's place is free for another by then. */
  readonly record: (row: Row, outcome: Outcome) => Promise<void>;
  /** Renews leases; gives back the rows whose claims still hold. */
  readonly renew: (rows: readonly Row[]) => Promise<readonly Row[]>;
  readonly giveBack: (rows: readonly Row[]) => Promise<void>;
  /** Told of what failed on our own side; the row is left to its lease. */
  readonly onError: (error: unknown) => void;
}

interface Held<Row> {
  readonly row: Row;
  /** By the monotonic clock, and on the safe side: counted from before the claim or renewal was asked for. */
  leaseEndsAt: number;
  stage: 'queued' | 'working' | 'recording';
  /** Whether it is counted among those that are worked on. */
  hasPlace: boolean;
  readonly done: () => void;
}

const ROWS_FOR_A_NEW_LANE = 5;

/**
 * Where the claimed rows of one process are worked on: lane by lane in turn, so many at once, their leases
 * renewed for as long as they are in hand.
 */
export class Workbench<Row extends HeldRow, Outcome> {
  private readonly held = new Map<string, Held<Row>>();
  private readonly lines = new LaneLines<Held<Row>>();
  private readonly rowsOfLane = new LaneCounts();
  private readonly placesOfLane = new LaneCounts();
  private readonly waitingForRoom = new Set<() => void>();
  private working = 0;
  /** Rows that are worked on without a place. */
  private lasting = 0;
  /** Room for rows of single lanes: as much as their turns may claim, of which most find far less. */
  private reservedForLanes = 0;
  private reservedForAny = 0;
  private bytes = 0;
  private draining = false;
  private renewing = false;
  private readonly renewals: NodeJS.Timeout;

  constructor(private readonly options: WorkbenchOptions<Row, Outcome>) {
    this.renewals = setInterval(() => void this.renewAll(), options.renewalMs);
  }

  /** Sets room aside for rows of a lane that are about to be claimed, for `wanted` at most; 0: there is none for the moment. */
  reserve(laneId: LaneId, wanted: number): number {
    if (this.draining) return 0;
    const { maxRows, maxRowsPerLane = maxRows, rowsForANewLane = ROWS_FOR_A_NEW_LANE } = this.options;
    const free = this.rowsFree - this.reservedForLanes;
    const ofLane = this.rowsOfLane.of(laneId);
    const least = ofLane > 0 ? 0 : rowsForANewLane;
    const rows = Math.max(0, Math.min(wanted, Math.max(free, least), maxRowsPerLane - ofLane));
    this.reservedForLanes += rows;
    return rows;
  }

  /**
   * Sets room aside for rows of whatever lanes that are known to be there. What is set aside for turns does not count against it: a hundred
   * turns that look for one row each would leave no room, so that what is made meanwhile needs turns of its own, and so on for ever.
   */
  reserveForAny(wanted: number): number {
    const rows = this.draining ? 0 : Math.max(0, Math.min(wanted, this.rowsFree));
    this.reservedForAny += rows;
    return rows;
  }

  /** For how many more rows there is room, but for what turns may find; negative when new lanes were given more than that. */
  get rowsFree(): number {
    const { maxBytes, maxRows } = this.options;
    return this.bytes < maxBytes ? maxRows - this.held.size - this.reservedForAny : 0;
  }

  /** The lanes that have at least so many rows in hand. */
  lanesWith(least: number): LaneId[] {
    return this.rowsOfLane.lanesWith(least);
  }

  /** Whether a lane has as many rows in hand as it may. */
  hasEnough(laneId: LaneId): boolean {
    return this.rowsOfLane.of(laneId) >= (this.options.maxRowsPerLane ?? Number.POSITIVE_INFINITY);
  }

  /** Gives back room that was set aside for a lane, once the rows are in hand or the claim has failed. */
  release(rows: number): void {
    this.reservedForLanes -= rows;
  }

  /** The same for what was set aside for rows of whatever lanes. */
  releaseForAny(rows: number): void {
    this.reservedForAny -= rows;
  }

  /** How many more bytes may come in hand. */
  get bytesFree(): number {
    return Math.max(this.options.maxBytes - this.bytes, 0);
  }

  /** Resolves when a row has left the bench, or after `withinMs`. */
  async untilRoom(withinMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, withinMs);
      const { waitingForRoom } = this;
      function done(): void {
        clearTimeout(timer);
        waitingForRoom.delete(done);
        resolve();
      }
      waitingForRoom.add(done);
    });
  }

  /**
   * Takes rows in hand.
   *
   * @param claimedAt `performance.now()` before the claim was asked for
   * @returns resolves when all of them have left the bench, whatever became of them
   */
  async put(rows: readonly Row[], claimedAt: number): Promise<void> {
    const all = rows.map((row) => this.takeInHand(row, claimedAt + this.options.leaseMs));
    if (this.draining) await this.giveBackQueued();
    this.fillPlaces();
    await Promise.all(all);
  }

  /** From now on there is no room, and what comes in hand all the same is given back. */
  refuse(): void {
    this.draining = true;
  }

  /** Begins nothing more, gives back what was not begun, and waits for what was. */
  async drain(): Promise<void> {
    this.draining = true;
    await this.giveBackQueued();
    while (this.held.size > 0) await this.untilRoom(100);
    clearInterval(this.renewals);
  }

  private takeInHand(row: Row, leaseEndsAt: number): Promise<void> {
    return new Promise((done) => {
      const held: Held<Row> = { row, leaseEndsAt, stage: 'queued', hasPlace: false, done };
      this.held.set(keyOf(row), held);
      this.bytes += row.bytes;
      this.rowsOfLane.add(row.laneId);
      this.lines.add(row.laneId, held);
    });
  }

  private fillPlaces(): void {
    while (!this.draining && this.working < this.options.concurrency) {
      const held = this.lines.next((candidate) => this.hasLease(candidate) && this.mayTakePlace(candidate));
      if (held === undefined) break;
      this.takePlace(held);
      void this.serve(held);
    }
    // What is left although places are free may have too little of its lease.
    if (this.working < this.options.concurrency && this.lines.someFirst((first) => !this.hasLease(first)))
      void this.renewAll();
  }

  /** There is a free place. A lane that has none may always take it. */
  private mayTakePlace({ row }: Held<Row>): boolean {
    const { concurrency, maxPlacesPerLane } = this.options;
    const ofLane = this.placesOfLane.of(row.laneId);
    if (maxPlacesPerLane === undefined || ofLane === 0) return true;
    return ofLane < Math.min(maxPlacesPerLane, concurrency - this.working);
  }

  private takePlace(held: Held<Row>): void {
    held.stage = 'working';
    held.hasPlace = true;
    this.working += 1;
    this.placesOfLane.add(held.row.laneId);
  }

  private freePlace(held: Held<Row>): void {
    held.hasPlace = false;
    this.working -= 1;
    this.placesOfLane.remove(held.row.laneId);
  }

  private leavePlace(held: Held<Row>): void {
    if (!held.hasPlace || this.lasting >= this.options.maxRows / 2) return;
    this.lasting += 1;
    this.freePlace(held);
    this.fillPlaces();
  }

  private hasLease(held: Held<Row>): boolean {
    return held.leaseEndsAt - performance.now() >= this.options.marginMs;
  }

  private async serve(held: Held<Row>): Promise<void> {
    try {
      const outcome = await this.workOn(held);
      if (outcome === undefined) await this.options.giveBack([held.row]);
      else await this.options.record(held.row, outcome);
    } catch (error) {
      this.options.onError(error);
    } finally {
      this.letGo(held);
    }
  }

  private async workOn(held: Held<Row>): Promise<Outcome | undefined> {
    try {
      return await this.options.work(
        held.row,
        () => !this.draining && this.hasLease(held),
        () => this.leavePlace(held),
      );
    } finally {
      held.stage = 'recording';
      if (held.hasPlace) this.freePlace(held);
      else this.lasting -= 1;
      this.fillPlaces();
    }
  }

  private letGo(held: Held<Row>): void {
    const { row } = held;
    if (!this.held.delete(keyOf(row))) return;
    this.bytes -= row.bytes;
    this.rowsOfLane.remove(row.laneId);
    held.done();
    for (const wake of this.waitingForRoom) wake();
  }

  private async renewAll(): Promise<void> {
    if (this.renewing || this.held.size === 0) return;
    this.renewing = true;
    const all = [...this.held.values()];
    const askedAt = performance.now();
    try {
      const alive = new Set(await this.options.renew(all.map((held) => held.row)));
      for (const held of all) this.renewed(held, alive.has(held.row), askedAt);
    } catch (error) {
      // Nothing begins without a confirmed lease; the next renewal may bring one.
      this.options.onError(error);
    } finally {
      this.renewing = false;
    }
    if (this.lines.size > 0) setTimeout(() => this.fillPlaces(), 100).unref();
  }

  private renewed(held: Held<Row>, alive: boolean, askedAt: number): void {
    // Somebody else has a row that is not alive. What is being transmitted goes on: its outcome is recorded as late.
    held.leaseEndsAt = alive ? askedAt + this.options.leaseMs : Number.NEGATIVE_INFINITY;
    if (!alive && held.stage === 'queued' && this.lines.remove(held.row.laneId, held)) this.letGo(held);
  }

  private async giveBackQueued(): Promise<void> {
    const queued = this.lines.takeAll();
    if (queued.length === 0) return;
    try {
      await this.options.giveBack(queued.map((held) => held.row));
    } catch (error) {
      this.options.onError(error);
    }
    for (const held of queued) this.letGo(held);
  }
}

function keyOf(row: HeldRow): string {
  return `${row.id}/${row.claims}`;
}
