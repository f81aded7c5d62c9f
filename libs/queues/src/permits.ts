import type { LaneId } from '@posthorn/domain';
import { LaneCounts } from './lane-counts.ts';

export interface PermitLimits {
  /** How many rows may be processed at once. */
  readonly concurrency: number;
  /** How many permits one lane may hold, so that a hanging lane leaves some to the others. Default: no limit per lane. */
  readonly maxPermitsPerLane?: number;
  /**
   * A lane gets no further permit while it holds this many times as many as are free, so that some stay free for the others, however many lanes hang. Default: 9,
   * which leaves a tenth free for others than the only busy lane; fewer than ten permits are not divided.
   */
  readonly maxTimesFree?: number;
}

const MAX_TIMES_FREE = 9;

/** The permits of a workbench or a gate: one for each row that is being processed. */
export class Permits {
  private readonly takenByLane = new LaneCounts();
  private count = 0;

  constructor(private readonly limits: PermitLimits) {}

  get taken(): number {
    return this.count;
  }

  get free(): number {
    return this.limits.concurrency - this.count;
  }

  of(laneId: LaneId): number {
    return this.takenByLane.of(laneId);
  }

  /** Whether a lane may take one of the free permits. A lane that holds none always may. */
  mayTake(laneId: LaneId): boolean {
    const { maxPermitsPerLane = Number.POSITIVE_INFINITY, maxTimesFree = MAX_TIMES_FREE } = this.limits;
    const ofLane = this.of(laneId);
    return ofLane === 0 ? this.free > 0 : ofLane < Math.min(maxPermitsPerLane, maxTimesFree * this.free);
  }

  take(laneId: LaneId): void {
    this.count += 1;
    this.takenByLane.add(laneId);
  }

  leave(laneId: LaneId): void {
    this.count -= 1;
    this.takenByLane.remove(laneId);
  }
}
