import type { LaneId } from '@posthorn/domain';

const MOST_KEPT = 10_000;

/** Which lanes this process has found to be slow, and when; by the monotonic clock. */
export class SlowLanesSeen {
  private readonly seenAt = new Map<LaneId, number>();

  /** Notes that a lane is known to be slow from now on. */
  see(laneId: LaneId): void {
    this.seenAt.delete(laneId);
    this.seenAt.set(laneId, performance.now());
    // The one that was not seen for the longest time: whatever was claimed of it is done by now.
    if (this.seenAt.size > MOST_KEPT) this.seenAt.delete(this.seenAt.keys().next().value!);
  }

  wasSeenSince(laneId: LaneId, moment: number): boolean {
    return (this.seenAt.get(laneId) ?? Number.NEGATIVE_INFINITY) > moment;
  }
}
