import type { Id } from '@posthorn/kernel';
import type { LaneId } from '@posthorn/domain';

/** The queue, and so the consumer, of a row. */
export type OutboxQueue = 'email' | 'event' | 'webhook';

/** A row that this process may process while its lease lasts. `claims` is the fencing token. */
export interface Claim {
  readonly id: Id<string>;
  readonly claims: number;
}

/** A claimed row of any queue. */
export interface ClaimedRow extends Claim {
  readonly laneId: LaneId;
  /** The number of steps taken in its retry schedule. */
  readonly attempts: number;
  readonly bytes: number;
  /** Whether the claim left further ready rows of this lane behind. */
  readonly laneHasMore: boolean;
  /** `suspensionProofNowMs()` before the claim was sent. */
  readonly askedAtMs: number;
}
