import type { LaneId } from '@posthorn/domain';
import { LaneCounts } from './lane-counts.ts';

export interface RoomLimits {
  /** About how many rows may be in hand, those in work included. */
  readonly maxRows: number;
  /** About how many bytes may be in hand. */
  readonly maxBytes: number;
  /** How many rows of one lane may be in hand. Default: as many as there is room for. */
  readonly maxRowsPerLane?: number;
  /** How many rows of a lane that has nothing in hand there is always room for, however full the bench is, up to twice its bytes: nobody waits behind a backlog. */
  readonly rowsForANewLane?: number;
}

/** What a row takes of the room. */
interface Load {
  readonly laneId: LaneId;
  readonly bytes: number;
}

const ROWS_FOR_A_NEW_LANE = 5;
/** New lanes may exceed the bytes, up to this many times the limit: without that, large rows of a hundred lanes would take all memory. */
const MAX_OVERDRAFT_FACTOR = 2;

/** The room on a workbench: what lies there, and what is reserved for claims that are under way. */
export class Room {
  private readonly rowsOfLane = new LaneCounts();
  private rows = 0;
  private bytes = 0;
  /** Room for rows of single lanes: as much as their turns may claim, though most turns find far less. */
  private reservedForLanes = 0;
  private reservedForAny = 0;
  private isClosed = false;

  constructor(private readonly limits: RoomLimits) {}

  /** Reserves room for rows of a lane that are about to be claimed, for `wanted` at most; 0: there is none for the moment. */
  reserve(laneId: LaneId, wanted: number): number {
    if (this.isClosed) return 0;
    const { maxRows, maxRowsPerLane = maxRows, rowsForANewLane = ROWS_FOR_A_NEW_LANE } = this.limits;
    const free = this.rowsFree - this.reservedForLanes;
    const ofLane = this.rowsOfLane.of(laneId);
    const isOverdrawn = this.bytes >= MAX_OVERDRAFT_FACTOR * this.limits.maxBytes;
    const min = ofLane > 0 || isOverdrawn ? 0 : rowsForANewLane;
    const rows = Math.max(0, Math.min(wanted, Math.max(free, min), maxRowsPerLane - ofLane));
    this.reservedForLanes += rows;
    return rows;
  }

  /**
   * Reserves room for rows of any lanes that are known to exist. What is reserved for turns does not count against it: a hundred turns that look for one
   * row each would leave no room, so that what is made meanwhile would need turns of its own, and so on for ever.
   */
  reserveForAny(wanted: number): number {
    const rows = this.isClosed ? 0 : Math.max(0, Math.min(wanted, this.rowsFree));
    this.reservedForAny += rows;
    return rows;
  }

  /** Gives back room that was reserved for a lane, once the rows are in hand or the claim has failed. */
  release(rows: number): void {
    this.reservedForLanes -= rows;
  }

  /** The same for what was reserved for rows of any lanes. */
  releaseForAny(rows: number): void {
    this.reservedForAny -= rows;
  }

  /** How many more rows there is room for, not counting what turns may find; negative when new lanes were given more than that. */
  get rowsFree(): number {
    const { maxBytes, maxRows } = this.limits;
    return this.bytes < maxBytes ? maxRows - this.rows - this.reservedForAny : 0;
  }

  /** How many more bytes may come in hand. */
  get bytesFree(): number {
    return Math.max(this.limits.maxBytes - this.bytes, 0);
  }

  /** The lanes that have at least so many rows in hand. */
  lanesWith(min: number): LaneId[] {
    return this.rowsOfLane.lanesWith(min);
  }

  /** Whether a lane has as many rows in hand as it may. */
  hasEnough(laneId: LaneId): boolean {
    return this.rowsOfLane.of(laneId) >= (this.limits.maxRowsPerLane ?? Number.POSITIVE_INFINITY);
  }

  /** From now on none is reserved. */
  close(): void {
    this.isClosed = true;
  }

  /** A row comes in hand. */
  take({ laneId, bytes }: Load): void {
    this.rows += 1;
    this.bytes += bytes;
    this.rowsOfLane.add(laneId);
  }

  /** A row leaves. */
  leave({ laneId, bytes }: Load): void {
    this.rows -= 1;
    this.bytes -= bytes;
    this.rowsOfLane.remove(laneId);
  }
}
