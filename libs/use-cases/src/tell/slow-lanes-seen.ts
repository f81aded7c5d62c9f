import { BoundedMap } from '@posthorn/kernel';
import type { LaneId } from '@posthorn/domain';

/** Of more than these, whatever was claimed of the one that was not seen for the longest time is done by now. */
const MAX_CACHED = 10_000;

/** Which lanes this process has found to be slow, and when; by the monotonic clock. */
export class SlowLanesSeen {
  private readonly seenAt = new BoundedMap<LaneId, number>(MAX_CACHED);

  /** Notes that a lane is known to be slow from now on. */
  see(laneId: LaneId): void {
    this.seenAt.set(laneId, performance.now());
  }

  wasSeenSince(laneId: LaneId, moment: number): boolean {
    return (this.seenAt.get(laneId) ?? Number.NEGATIVE_INFINITY) > moment;
  }
}
