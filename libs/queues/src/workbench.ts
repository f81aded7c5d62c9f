import type { LaneId } from '@posthorn/domain';
import { DenseSet, type DenseSetMember } from '@posthorn/kernel';
import { LaneCounts } from './lane-counts.ts';
import { LaneLines } from './lane-lines.ts';
import { Places } from './places.ts';
import { Room } from './room.ts';
import type { HeldRow, WorkbenchOptions } from './workbench-options.ts';

/** So much of what may be unrecorded a lane that has some of it already leaves to the others. */
const SHARE_OF_OTHER_LANES = 1 / 20;
/** A renewal that failed is tried again after this. */
const RENEW_AGAIN_MS = 1_000;

interface Held<Row> extends DenseSetMember {
  readonly row: Row;
  /** By the monotonic clock, and on the safe side: counted from before the claim or renewal was asked for. */
  leaseEndsAt: number;
  stage: 'queued' | 'working' | 'recording';
  /** Whether it is counted among those that are worked on. */
  hasPlace: boolean;
  readonly done: () => void;
}

/**
 * Where the claimed rows of one process are worked on: lane by lane in turn, so many at once, their leases
 * renewed for as long as they are in hand.
 */
export class Workbench<Row extends HeldRow, Outcome> {
  private readonly held = new DenseSet<Held<Row>>();
  private readonly lines = new LaneLines<Held<Row>>();
  private readonly waitingForRoom = new Set<() => void>();
  /** The room for rows: ask it before a claim. */
  readonly room: Room;
  private readonly places: Places;
  /** Rows that are worked on without a place. */
  private lasting = 0;
  /** Rows that were worked on, whose outcomes are not durable yet. */
  private recording = 0;
  private readonly recordingOf = new LaneCounts();
  private draining = false;
  private renewing = false;
  private readonly renewals: NodeJS.Timeout;
  private renewal: NodeJS.Timeout | undefined;

  constructor(private readonly options: WorkbenchOptions<Row, Outcome>) {
    this.room = new Room(options);
    this.places = new Places(options);
    this.renewals = setInterval(() => void this.renewAll(), options.renewalMs);
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

  /** From now on there is no room, and rows that arrive all the same are given back. */
  refuse(): void {
    this.draining = true;
    this.room.close();
  }

  /** Begins nothing more, gives back what was not begun, and waits for what was. */
  async drain(): Promise<void> {
    this.refuse();
    await this.giveBackQueued();
    while (this.held.size > 0) await this.untilRoom(100);
    clearInterval(this.renewals);
  }

  private takeInHand(row: Row, leaseEndsAt: number): Promise<void> {
    return new Promise((done) => {
      const held: Held<Row> = {
        row,
        leaseEndsAt,
        stage: 'queued',
        hasPlace: false,
        done,
        position: undefined,
      };
      this.held.add(held);
      this.room.take(row);
      this.lines.add(row.laneId, held);
    });
  }

  private fillPlaces(): void {
    while (this.mayBegin()) {
      const held = this.lines.next(
        (candidate) => this.hasLease(candidate) && this.mayTakePlace(candidate.row.laneId),
      );
      if (held === undefined) break;
      this.takePlace(held);
      void this.serve(held);
    }
    // Rows that are left although places are free may have too little left of their lease.
    if (this.places.free > 0 && this.lines.someFirst((first) => !this.hasLease(first))) void this.renewAll();
  }

  private mayBegin(): boolean {
    return !this.draining && this.places.free > 0 && this.unrecordedLeft > 0;
  }

  /** How many more may begin before an outcome is durable. */
  private get unrecordedLeft(): number {
    return this.options.maxUnrecorded - this.places.taken - this.recording;
  }

  private mayTakePlace(laneId: LaneId): boolean {
    return this.places.mayTake(laneId) && this.mayBeUnrecorded(laneId);
  }

  private mayBeUnrecorded(laneId: LaneId): boolean {
    const { maxUnrecorded, maxUnrecordedPerLane } = this.options;
    const recording = this.recordingOf.of(laneId);
    if (maxUnrecordedPerLane === undefined || recording + this.places.of(laneId) === 0) return true;
    return recording < maxUnrecordedPerLane && this.unrecordedLeft > maxUnrecorded * SHARE_OF_OTHER_LANES;
  }

  private takePlace(held: Held<Row>): void {
    held.stage = 'working';
    held.hasPlace = true;
    this.places.take(held.row.laneId);
  }

  private freePlace(held: Held<Row>): void {
    held.hasPlace = false;
    this.places.leave(held.row.laneId);
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
      this.recording -= 1;
      this.recordingOf.remove(held.row.laneId);
      this.letGo(held);
      this.fillPlaces();
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
      this.recording += 1;
      this.recordingOf.add(held.row.laneId);
      if (held.hasPlace) this.freePlace(held);
      else this.lasting -= 1;
      this.fillPlaces();
    }
  }

  private letGo(held: Held<Row>): void {
    if (!this.held.delete(held)) return;
    this.room.leave(held.row);
    held.done();
    for (const wake of this.waitingForRoom) wake();
  }

  private async renewAll(): Promise<void> {
    if (this.renewing || this.held.size === 0) return;
    this.renewing = true;
    const all = this.held.values();
    const askedAt = performance.now();
    try {
      const alive = new Set(await this.options.renew(all.map((held) => held.row)));
      for (const held of all) this.renewed(held, alive.has(held.row), askedAt);
    } catch (error) {
      // Nothing begins without a confirmed lease; the next renewal may bring one.
      this.options.onError(error);
      this.renewSoon();
    } finally {
      this.renewing = false;
    }
    // Not at once: where no lease was to be had, it would be asked for again without a pause.
    if (this.lines.size > 0) setTimeout(() => this.fillPlaces(), 100).unref();
  }

  /** After an outage, leases that ended in it count as dead before all who live would renew them by themselves: what they transmit would be sent twice. */
  private renewSoon(): void {
    this.renewal ??= setTimeout(() => {
      this.renewal = undefined;
      void this.renewAll();
    }, RENEW_AGAIN_MS).unref();
  }

  private renewed(held: Held<Row>, alive: boolean, askedAt: number): void {
    // A row that is not alive is somebody else's. What is being transmitted goes on: its outcome is recorded as late.
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
