import type { LaneId } from '@posthorn/domain';
import { Counts } from '@posthorn/kernel';

export interface CapacityLimits {
  /** About how many rows may be held, including those being processed. */
  readonly maxRows: number;
  /** About how many bytes the held rows may take. */
  readonly maxBytes: number;
  /** How many rows of a lane may be held now. Default: no limit per lane. */
  readonly maxRowsOf?: (laneId: LaneId) => number;
  /** How many rows a lane that holds none may always claim, even on a full workbench, so that no lane waits behind the backlog of another; up to twice `maxBytes`. */
  readonly minRowsForNewLane?: number;
}

/** What a row takes of the capacity. */
interface Load {
  readonly laneId: LaneId;
  readonly bytes: number;
}

const MIN_ROWS_FOR_NEW_LANE = 5;
/** New lanes may exceed `maxBytes`, but only up to this many times: otherwise large rows of a hundred lanes would exhaust the memory. */
const MAX_OVERDRAFT_FACTOR = 2;

/** The capacity of a workbench: accounts for the rows that it holds and for reservations of claims that are under way. */
export class Capacity {
  private readonly rowsOfLane = new Counts<LaneId>();
  private rows = 0;
  private bytes = 0;
  /** Reserved by turns of single lanes: as much as they may claim, though most turns find far fewer rows. */
  private reservedForLanes = 0;
  private reservedForAny = 0;
  private isClosed = false;

  constructor(private readonly limits: CapacityLimits) {}

  /** Reserves capacity for a claim of up to `wanted` rows of a lane. @returns for how many; 0: the workbench is full */
  reserve(laneId: LaneId, wanted: number): number {
    if (this.isClosed) return 0;
    const { minRowsForNewLane = MIN_ROWS_FOR_NEW_LANE } = this.limits;
    const free = this.rowsFree - this.reservedForLanes;
    const ofLane = this.rowsOfLane.of(laneId);
    const isOverdrawn = this.bytes >= MAX_OVERDRAFT_FACTOR * this.limits.maxBytes;
    const guaranteed = ofLane > 0 || isOverdrawn ? 0 : minRowsForNewLane;
    const rows = Math.max(0, Math.min(wanted, Math.max(free, guaranteed), this.maxRowsOf(laneId) - ofLane));
    this.reservedForLanes += rows;
    return rows;
  }

  /**
   * Reserves capacity for rows of any lanes that are known to exist. Reservations of turns do not count against it: otherwise a hundred turns that look for
   * a single row each would leave nothing, rows created meanwhile would need turns of their own, and so on for ever.
   */
  reserveForAny(wanted: number): number {
    const rows = this.isClosed ? 0 : Math.max(0, Math.min(wanted, this.rowsFree));
    this.reservedForAny += rows;
    return rows;
  }

  /** Ends a reservation of a lane, once its rows are held or the claim has failed. */
  release(rows: number): void {
    this.reservedForLanes -= rows;
  }

  /** The same for a reservation for any lanes. */
  releaseForAny(rows: number): void {
    this.reservedForAny -= rows;
  }

  /** How many more rows fit, ignoring reservations of turns; negative when new lanes have exceeded the limit. */
  get rowsFree(): number {
    const { maxBytes, maxRows } = this.limits;
    return this.bytes < maxBytes ? maxRows - this.rows - this.reservedForAny : 0;
  }

  /** How many more bytes fit. */
  get bytesFree(): number {
    return Math.max(this.limits.maxBytes - this.bytes, 0);
  }

  /** The lanes that hold at least this many rows. */
  lanesWith(guaranteed: number): LaneId[] {
    return this.rowsOfLane.keysWith(guaranteed);
  }

  /** Whether a lane holds as many rows as it may. */
  hasEnough(laneId: LaneId): boolean {
    return this.rowsOfLane.of(laneId) >= this.maxRowsOf(laneId);
  }

  /** From now on nothing can be reserved. */
  close(): void {
    this.isClosed = true;
  }

  /** Accounts for a row that is now held. */
  take({ laneId, bytes }: Load): void {
    this.rows += 1;
    this.bytes += bytes;
    this.rowsOfLane.add(laneId);
  }

  /** Accounts for a row that has left. */
  leave({ laneId, bytes }: Load): void {
    this.rows -= 1;
    this.bytes -= bytes;
    this.rowsOfLane.remove(laneId);
  }

  private maxRowsOf(laneId: LaneId): number {
    return this.limits.maxRowsOf?.(laneId) ?? Number.POSITIVE_INFINITY;
  }
}
