import type { LaneId } from '@posthorn/domain';
import { Counts } from '@posthorn/kernel';

export interface PermitLimits {
  /** How many rows may be processed at once. */
  readonly concurrency: number;
  /** How many permits one lane may hold, so that a hanging lane leaves some to the others. Default: no limit per lane. */
  readonly maxPermitsPerLane?: number;
  /**
   * A lane gets no further permit while it holds this many times as many as are free, so that some stay free for the others, however many lanes hang. Default: 9,
   * so that a tenth is free for others than the only busy lane, and as long as no other lane has had a permit for an hour, it may take all. Fewer
   * than ten permits are not divided by 9.
   */
  readonly maxTimesFree?: number;
}

const MAX_TIMES_FREE = 9;
/** How long a lane that had a permit is taken for one that may need another. */
const EXPECTED_FOR_MS = 3_600_000;

/** The permits of a workbench or a gate: one for each row that is being processed. */
export class Permits {
  private readonly takenByLane = new Counts<LaneId>();
  private count = 0;
  private lastLane: LaneId | undefined;
  /** When another lane than the one before took a permit. */
  private sharedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly limits: PermitLimits,
    private readonly nowMs = (): number => performance.now(),
  ) {}

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
    if (this.free <= 0) return false;
    const { maxPermitsPerLane = Number.POSITIVE_INFINITY } = this.limits;
    return this.of(laneId) < Math.min(maxPermitsPerLane, this.maxTimesFree * this.free);
  }

  take(laneId: LaneId): void {
    if (this.lastLane !== undefined && laneId !== this.lastLane) this.sharedAtMs = this.nowMs();
    this.lastLane = laneId;
    this.count += 1;
    this.takenByLane.add(laneId);
  }

  leave(laneId: LaneId): void {
    this.count -= 1;
    this.takenByLane.remove(laneId);
  }

  private get maxTimesFree(): number {
    const isShared = this.nowMs() - this.sharedAtMs < EXPECTED_FOR_MS;
    return this.limits.maxTimesFree ?? (isShared ? MAX_TIMES_FREE : Number.POSITIVE_INFINITY);
  }
}
