import type { LaneId } from '@posthorn/domain';
import type { PlaceLimits } from './places.ts';
import type { RoomLimits } from './room.ts';

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

export interface WorkbenchOptions<Row extends HeldRow, Outcome> extends RoomLimits, PlaceLimits {
  /** How long a confirmed lease lasts, in milliseconds. */
  readonly leaseMs: number;
  readonly renewalMs: number;
  /** No work begins with less of its lease left. */
  readonly marginMs: number;
  /**
   * Nothing begins while so many rows have places or outcomes that are not durable yet: when the process is killed, no more than these, and what waits
   * without a place, was done without a record, however slow the database is.
   */
  readonly maxUnrecorded: number;
  /**
   * How many outcomes of one lane may wait to be recorded; then the last twentieth of all that may be unrecorded is for lanes that have none, too. So
   * lanes whose outcomes cannot be recorded leave room to the others, however many such lanes there are. Default: all of these.
   */
  readonly maxUnrecordedPerLane?: number;
  /**
   * Does the work; undefined: it was not begun, and the row is given back. `mayStillBegin` must be asked when preparations are
   * over: whether enough of the lease is left. `leavePlace` may be called when the work turns out to be mere waiting: it goes on
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
