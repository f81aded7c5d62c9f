import type { EmailId, WorkspaceId } from '@posthorn/kernel';
import type { LaneId, SuppressionReason, WithheldReason } from '@posthorn/domain';
import type { Claim, ClaimedRow } from './claim.ts';
import type { LaneRow } from './read-starts.ts';
import { composableEmail, type ComposableEmail } from '../emails/composable-email.ts';
import type { CompositionRow } from '../../sql/composition.ts';

/** A claimed email with all that sending it needs. */
export interface ClaimedEmail extends ComposableEmail, ClaimedRow {
  readonly id: EmailId;
  /** Why it must be withheld from its recipient, as of the claim; null: it need not be. */
  readonly withheldFor: WithheldReason | null;
  /** That of the request that created it; null: tracing was off. */
  readonly traceparent: string | null;
}

/** The outcome of a claimed email, as RECORD_OUTCOMES takes it. */
export interface EmailOutcome extends Claim {
  readonly id: EmailId;
  readonly workspaceId: WorkspaceId;
  readonly kind: 'SENT' | 'DELAYED' | 'REPLY_LOST' | 'BOUNCED' | 'FAILED' | 'SUPPRESSED';
  /** The email's new status; null: unchanged. */
  readonly status: 'SENT' | 'BOUNCED' | 'FAILED' | 'SUPPRESSED' | null;
  /** Delay before the retry, from when the outcome is recorded; null: the email is finished. */
  readonly retryAfterMs: number | null;
  /** The lane in which it waits for the retry. */
  readonly laneId: LaneId;
  readonly duplicatePossible: boolean;
  /** The reason for suppressing its recipient; null: it is not suppressed. */
  readonly suppression: SuppressionReason | null;
  readonly detail: object;
}

/** A row of CLAIM_EMAILS. */
export type ClaimRow = CompositionRow &
  Omit<ClaimedRow, 'id' | 'askedAtMs'> &
  LaneRow &
  Pick<ClaimedEmail, 'withheldFor' | 'traceparent'>;

/** @param askedAtMs `suspensionProofNowMs()` before the claim was sent */
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
