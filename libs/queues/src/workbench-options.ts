import type { LaneId } from '@posthorn/domain';
import type { PermitLimits } from './permits.ts';
import type { CapacityLimits } from './capacity.ts';

/** What the workbench needs to know of a claimed row. */
export interface HeldRow {
  readonly laneId: LaneId;
  readonly bytes: number;
  /** Whether the claim left further ready rows of this lane behind. */
  readonly laneHasMore: boolean;
}

export interface WorkbenchOptions<Row extends HeldRow, Outcome> extends CapacityLimits, PermitLimits {
  /** Duration of a lease after a claim or renewal. */
  readonly leaseMs: number;
  readonly renewalMs: number;
  /** No work starts with less than this left of its lease. */
  readonly marginMs: number;
  /**
   * No work starts while this many rows are being processed with a permit, or have outcomes that are not durable yet. However slow the database is, this
   * bounds (together with the rows that wait without a permit) how many rows were processed without a record when the process is killed.
   */
  readonly maxUnrecorded: number;
  /**
   * How many outcomes of one lane may wait to be recorded. If set, the last twentieth of `maxUnrecorded` is moreover reserved for lanes that have nothing
   * unrecorded. So lanes whose outcomes cannot be recorded do not block the others, however many there are. Default: no limit per lane.
   */
  readonly maxUnrecordedPerLane?: number;
  /**
   * Processes a row; resolves with undefined if nothing was begun, so that the claim is given back. `mayStillBegin` must be called after preparations:
   * whether enough of the lease is left. `releasePermitEarly` may be called when only waiting is left to do: the work goes on without its permit, unless
   * half of `maxRows` do so already.
   */
  readonly work: (
    row: Row,
    mayStillBegin: () => boolean,
    releasePermitEarly: () => void,
  ) => Promise<Outcome | undefined>;
  /** Makes the outcome durable. The row's permit has been returned by then. */
  readonly record: (row: Row, outcome: Outcome) => Promise<void>;
  /** Renews leases; resolves with the rows whose claims still hold. */
  readonly renew: (rows: readonly Row[]) => Promise<readonly Row[]>;
  readonly giveBack: (rows: readonly Row[]) => Promise<void>;
  /** Called with errors of our own; the row stays claimed until its lease expires. */
  readonly onError: (error: unknown) => void;
}
