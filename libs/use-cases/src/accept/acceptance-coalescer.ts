import { Coalescer } from '@posthorn/kernel';
import type { LaneId } from '@posthorn/domain';
import type { AcceptableCall, AcceptableEmail, AcceptanceStore, CallOutcome } from '@posthorn/database';
import { groupSize } from '@posthorn/platform';
import type { LaneRings } from '@posthorn/queues';
import { workspaceGroups } from '../workspace-groups.ts';
import { WORKING_SPACE_FACTOR } from './prepare-email.ts';
import { ResilientAcceptance } from './resilient-acceptance.ts';

/** From this size on, the fixed cost of a statement is small compared with the cost of its emails. */
const MIN_EMAILS_TO_SPLIT = 64;

export interface AcceptanceCoalescerOptions {
  readonly store: Pick<AcceptanceStore, 'accept' | 'findAccepted'>;
  readonly rings: Pick<LaneRings, 'ring'>;
  /** Monthly limit of emails for workspaces without a limit of their own; null: none. */
  readonly monthlyLimit: number | null;
}

/** Accepts concurrent calls in one transaction, and rings the lanes of emails that are due at once. */
export class AcceptanceCoalescer {
  private readonly acceptance: ResilientAcceptance;
  private readonly calls: Coalescer<AcceptableCall, CallOutcome>;

  constructor(private readonly options: AcceptanceCoalescerOptions) {
    this.acceptance = new ResilientAcceptance(options.store, options.monthlyLimit);
    this.calls = new Coalescer({
      ...workspaceGroups(({ workspaceId }: AcceptableCall) => workspaceId),
      serve: (calls) => this.accept(calls),
      minSplitWeight: MIN_EMAILS_TO_SPLIT,
      weightOf: ({ emails }) => emails.length,
      bytesOf: ({ emails }) => emails.reduce((sum, email) => sum + bytesOf(email), 0),
    });
  }

  /** The outcome of a call, once its group has one. */
  add(call: AcceptableCall): Promise<CallOutcome> {
    return this.calls.add(call);
  }

  private async accept(calls: readonly AcceptableCall[]): Promise<CallOutcome[]> {
    const outcomes = await this.acceptance.accept(calls);
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
    // After the commit, and not awaited: a failed ring must not fail an acceptance that has happened.
    for (const [laneId, rows] of rowsOfLane) this.options.rings.ring(laneId, rows);
  }
}

/** About how much memory accepting the email takes. */
function bytesOf(email: AcceptableEmail): number {
  const contactProperties = email.type === 'raw' ? email.contactProperties : undefined;
  const ofContact = contactProperties === undefined ? 0 : JSON.stringify(contactProperties).length;
  return email.bytesToAccept * WORKING_SPACE_FACTOR + ofContact;
}

function acceptedOf({ emails }: AcceptableCall, outcome: CallOutcome): AcceptableEmail[] {
  if (outcome.kind !== 'decided') return [];
  return emails.filter((_email, index) => outcome.emails[index]!.kind === 'accepted');
}
