import { Coalescer } from '@posthorn/kernel';
import type { LaneId } from '@posthorn/domain';
import type { AcceptableCall, AcceptableEmail, AcceptanceStore, CallOutcome } from '@posthorn/database';
import { groupSize } from '@posthorn/platform';
import type { LaneRings } from '@posthorn/queues';
import { AcceptGroup } from './accept-group.ts';
import { partitionOf } from './partition-of.ts';

const MAX_EMAILS_PER_GROUP = 500;
/** With so many, what a statement costs by itself is little beside what its emails cost. */
const MIN_EMAILS_TO_SPLIT = 64;
const MAX_BYTES_PER_GROUP = 8 * 1024 * 1024;
const GROUPS_AT_ONCE = 4;

export interface AcceptanceGroupsOptions {
  readonly store: Pick<AcceptanceStore, 'accept' | 'findAccepted'>;
  readonly rings: Pick<LaneRings, 'ring'>;
  /** Emails a month of a workspace that has no limit of its own; null: none. */
  readonly monthlyLimit: number | null;
}

/** Accepts calls that are in flight together in one transaction, and rings for what may leave at once. */
export class AcceptanceGroups {
  private readonly group: AcceptGroup;
  private readonly calls: Coalescer<AcceptableCall, CallOutcome>;

  constructor(private readonly options: AcceptanceGroupsOptions) {
    this.group = new AcceptGroup(options.store, options.monthlyLimit);
    this.calls = new Coalescer({
      serve: (calls) => this.accept(calls),
      maxItems: MAX_EMAILS_PER_GROUP,
      minSplitWeight: MIN_EMAILS_TO_SPLIT,
      weightOf: ({ emails }) => emails.length,
      maxBytes: MAX_BYTES_PER_GROUP,
      bytesOf: ({ emails }) => emails.reduce((sum, email) => sum + bytesOf(email), 0),
      partitions: GROUPS_AT_ONCE,
      partitionOf: (call) => partitionOf(call.workspaceId),
    });
  }

  /** The outcome of a call, once its group has one. */
  add(call: AcceptableCall): Promise<CallOutcome> {
    return this.calls.add(call);
  }

  private async accept(calls: readonly AcceptableCall[]): Promise<CallOutcome[]> {
    const outcomes = await this.group.accept(calls);
    const accepted = calls.flatMap((call, index) => acceptedOf(call, outcomes[index]!));
    groupSize.observe({ what: 'accept' }, accepted.length);
    this.ringFor(accepted);
    return outcomes;
  }

  private ringFor(accepted: readonly AcceptableEmail[]): void {
    const rowsOfLane = new Map<LaneId, number>();
    for (const { laneId, sendAt } of accepted) {
      if (sendAt === null) rowsOfLane.set(laneId, (rowsOfLane.get(laneId) ?? 0) + 1);
    }
    // After the commit and not awaited: a ring that fails must not undo an acceptance that has happened.
    for (const [laneId, rows] of rowsOfLane) this.options.rings.ring(laneId, rows);
  }
}

/** About how much memory accepting it takes. */
function bytesOf(email: AcceptableEmail): number {
  const contactProperties = email.type === 'raw' ? email.contactProperties : undefined;
  return email.bytes + (contactProperties === undefined ? 0 : JSON.stringify(contactProperties).length);
}

function acceptedOf({ emails }: AcceptableCall, outcome: CallOutcome): AcceptableEmail[] {
  if (outcome.kind !== 'judged') return [];
  return emails.filter((_email, index) => outcome.emails[index]!.kind === 'accepted');
}
