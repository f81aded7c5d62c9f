import type { LaneId } from '@posthorn/domain';

/** A counter per lane; lanes at zero take no memory. */
export class LaneCounts {
  private readonly counts = new Map<LaneId, number>();

  of(laneId: LaneId): number {
    return this.counts.get(laneId) ?? 0;
  }

  /** The lanes whose count is at least this. */
  lanesWith(min: number): LaneId[] {
    return [...this.counts].flatMap(([laneId, count]) => (count >= min ? [laneId] : []));
  }

  add(laneId: LaneId, count = 1): void {
    this.counts.set(laneId, this.of(laneId) + count);
  }

  remove(laneId: LaneId, count = 1): void {
    const left = this.of(laneId) - count;
    if (left > 0) this.counts.set(laneId, left);
    else this.counts.delete(laneId);
  }
}
