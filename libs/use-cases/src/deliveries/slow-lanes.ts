import { BoundedMap, suspensionProofNowMs } from '@posthorn/kernel';
import type { LaneId } from '@posthorn/domain';
import type { Responsiveness } from './outcome-of-post.ts';

/** Large enough: all that was claimed of an evicted lane before it was marked has been processed by then. */
const MAX_REMEMBERED = 10_000;
/** A slow receiver that answers gets only a few deliveries at a time. */
const ROWS_OF_ANSWERING = 10;
/** One that does not answer, or is throttled, a single one: otherwise it would occupy each connection until the deadline, or use up the attempts of many deliveries. */
const ROWS_OF_OTHERS = 1;
/** How long after its rest a receiver counts as throttled. */
const THROTTLED_FOR_MS = 60_000;

interface SlowLane {
  readonly markedAtMs: number;
  readonly isAnswering: boolean;
  readonly restsUntilMs: number;
  readonly throttledUntilMs: number;
}

const NEVER = Number.NEGATIVE_INFINITY;
const UNKNOWN: SlowLane = {
  markedAtMs: NEVER,
  isAnswering: false,
  restsUntilMs: NEVER,
  throttledUntilMs: NEVER,
};

/** What this process knows of the lanes of slow receivers, which decides how many deliveries they get at a time (decisions 56 and 57). */
export class SlowLanes {
  private readonly lanes = new BoundedMap<LaneId, SlowLane>(MAX_REMEMBERED);

  /** @param nowMs the clock by which claims are timed, in milliseconds */
  constructor(private readonly nowMs: () => number = suspensionProofNowMs) {}

  /** Marks a lane as slow as of now. */
  mark(laneId: LaneId): void {
    this.change(laneId, { markedAtMs: this.nowMs(), isAnswering: false });
  }

  /** @param moment by the same clock */
  wasMarkedSince(laneId: LaneId, moment: number): boolean {
    return this.of(laneId).markedAtMs > moment;
  }

  /** Notes how the receiver has responded to a POST. */
  note(laneId: LaneId, shown: Responsiveness): void {
    if (shown.kind !== 'throttled') return this.change(laneId, { isAnswering: shown.kind === 'answering' });
    const restsUntilMs = this.nowMs() + shown.restMs;
    this.change(laneId, {
      isAnswering: false,
      restsUntilMs,
      throttledUntilMs: restsUntilMs + THROTTLED_FOR_MS,
    });
  }

  /** How many deliveries of a lane this process may hold now. */
  maxRowsOf(laneId: LaneId): number {
    const { isAnswering, restsUntilMs } = this.of(laneId);
    if (this.nowMs() < restsUntilMs) return 0;
    return isAnswering && !this.isThrottled(laneId) ? ROWS_OF_ANSWERING : ROWS_OF_OTHERS;
  }

  /** Whether its receiver has said within about a minute that it gets too many requests. */
  isThrottled(laneId: LaneId): boolean {
    return this.nowMs() < this.of(laneId).throttledUntilMs;
  }

  private of(laneId: LaneId): SlowLane {
    return this.lanes.get(laneId) ?? UNKNOWN;
  }

  private change(laneId: LaneId, changed: Partial<SlowLane>): void {
    this.lanes.set(laneId, { ...this.of(laneId), ...changed });
  }
}
