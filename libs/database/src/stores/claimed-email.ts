import type { EmailId, WorkspaceId } from '@posthorn/kernel';
import type { LaneId, SuppressionReason, WithheldReason } from '@posthorn/domain';
import type { Claim, ClaimedRow } from './claim.ts';
import { composableEmail, type ComposableEmail, type CompositionRow } from './composable-email.ts';

/** An email that was claimed, with all that sending it needs. */
export interface ClaimedEmail extends ComposableEmail, ClaimedRow {
  readonly id: EmailId;
  /** Why nothing is to be sent to its recipient, when it was claimed; null: it is. */
  readonly withheldFor: WithheldReason | null;
  /** When that was asked, by `performance.now()`. */
  readonly askedAtMs: number;
  /** The place in its trace of what asked for it; null: traces were off. */
  readonly traceparent: string | null;
}

/** What became of a claimed email; see RECORD_OUTCOMES for what each field does. */
export interface EmailOutcome extends Claim {
  readonly id: EmailId;
  readonly workspaceId: WorkspaceId;
  readonly kind: 'SENT' | 'DELAYED' | 'REPLY_LOST' | 'BOUNCED' | 'FAILED' | 'SUPPRESSED';
  /** The email's new status; null: unchanged. */
  readonly status: 'SENT' | 'BOUNCED' | 'FAILED' | 'SUPPRESSED' | null;
  /** When it is tried again, counted from the record; null: it is finished. */
  readonly retryAfterMs: number | null;
  /** The lane in which it waits for that. */
  readonly laneId: LaneId;
  readonly duplicatePossible: boolean;
  /** What its recipient is put on the suppression list for; absent: it is not. */
  readonly suppression?: SuppressionReason | null;
  readonly detail: object;
}

/** A row of CLAIM_EMAILS. */
export type ClaimRow = CompositionRow &
  Omit<ClaimedRow, 'id'> &
  Pick<ClaimedEmail, 'withheldFor' | 'traceparent'>;

/** @param askedAtMs when it was claimed, by `performance.now()` */
export function claimedEmail(row: ClaimRow, askedAtMs: number): ClaimedEmail {
  const { laneId, claims, attempts, bytes, laneHasMore, withheldFor, traceparent } = row;
  return {
    laneId,
    claims,
    attempts,
    bytes,
    laneHasMore,
    withheldFor,
    askedAtMs,
    traceparent,
    ...composableEmail(row),
  };
}
