import type { LaneId } from '@posthorn/domain';
import { LaneCounts } from './lane-counts.ts';

export interface PlaceLimits {
  /** How many rows are worked on at once. */
  readonly concurrency: number;
  /**
   * How many places a lane may have, so that one that hangs leaves some to the others. Nor does a lane get another place while it has as many as are
   * free, so that several that hang leave some too. Default: all of them, first come, first served.
   */
  readonly maxPlacesPerLane?: number;
}

/** The places of a workbench: one for each row that is worked on. */
export class Places {
  private readonly takenBy = new LaneCounts();
  private count = 0;

  constructor(private readonly limits: PlaceLimits) {}

  get taken(): number {
    return this.count;
  }

  get free(): number {
    return this.limits.concurrency - this.count;
  }

  of(laneId: LaneId): number {
    return this.takenBy.of(laneId);
  }

  /** Whether a lane may have one of the free places. One that has none always may. */
  mayTake(laneId: LaneId): boolean {
    const { maxPlacesPerLane } = this.limits;
    const ofLane = this.of(laneId);
    if (maxPlacesPerLane === undefined || ofLane === 0) return true;
    return ofLane < Math.min(maxPlacesPerLane, this.free);
  }

  take(laneId: LaneId): void {
    this.count += 1;
    this.takenBy.add(laneId);
  }

  leave(laneId: LaneId): void {
    this.count -= 1;
    this.takenBy.remove(laneId);
  }
}
