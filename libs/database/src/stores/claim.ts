import type { Id } from '@posthorn/kernel';
import type { LaneId } from '@posthorn/domain';

/** Which consumer a row is for. */
export type OutboxQueue = 'email' | 'event' | 'webhook';

/** A row that this process may work on while its lease lives. `claims` is the fencing token. */
export interface Claim {
  readonly id: Id<string>;
  readonly claims: number;
}

/** A row that was claimed, whatever it is of. */
export interface ClaimedRow extends Claim {
  readonly laneId: LaneId;
  /** Answers recorded before, since it was last made due anew: the step in its retry table. */
  readonly attempts: number;
  readonly bytes: number;
  /** Whether the claim left ready rows of this lane behind. */
  readonly laneHasMore: boolean;
}

/** Of which lane rows are wanted, and how many at the most. */
export interface LaneDemand {
  readonly laneId: LaneId;
  readonly maxRows: number;
}

/** What is demanded, as a claim takes it: lanes, and how many rows of each. */
export function demandColumns(demands: readonly LaneDemand[]): [string[], number[]] {
  return [demands.map(({ laneId }) => laneId), demands.map(({ maxRows }) => maxRows)];
}
