import type { LaneId } from '@posthorn/domain';
import { LaneCounts } from './lane-counts.ts';

export interface PermitLimits {
  /** How many rows may be processed at once. */
  readonly concurrency: number;
  /**
   * How many permits one lane may hold, so that a hanging lane leaves some to the others. Moreover, a lane gets no further permit while it holds as many as
   * are free, so that several hanging lanes leave some too. Default: no limit per lane.
   */
  readonly maxPermitsPerLane?: number;
}

/** The permits of a workbench: one for each row that is being processed. */
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
    const { maxPermitsPerLane } = this.limits;
    const ofLane = this.of(laneId);
    if (maxPermitsPerLane === undefined || ofLane === 0) return true;
    return ofLane < Math.min(maxPermitsPerLane, this.free);
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
