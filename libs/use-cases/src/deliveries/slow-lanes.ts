import { BoundedMap } from '@posthorn/kernel';
import type { LaneId } from '@posthorn/domain';

/** Large enough: all that was claimed of an evicted lane before it was marked has been processed by then. */
const MAX_CACHED = 10_000;

/** The lanes that this process has found to be slow, and when, by the monotonic clock. */
export class SlowLanes {
  private readonly markedAt = new BoundedMap<LaneId, number>(MAX_CACHED);

  /** Marks a lane as slow as of now. */
  mark(laneId: LaneId): void {
    this.markedAt.set(laneId, performance.now());
  }

  wasMarkedSince(laneId: LaneId, moment: number): boolean {
    return (this.markedAt.get(laneId) ?? Number.NEGATIVE_INFINITY) > moment;
  }
}
