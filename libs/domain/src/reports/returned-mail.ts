import type { SmtpReply, SmtpStage } from '../delivery.ts';

/** The actions of delivery status notifications (RFC 3464, section 2.3.3). */
export const RECIPIENT_ACTIONS = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const;

export type RecipientAction = (typeof RECIPIENT_ACTIONS)[number];

/** The part of a delivery status notification about one recipient. */
export interface RecipientStatus {
  readonly action: RecipientAction;
  /** The original address and the final one, which differs if the mail was forwarded, as far as they are named. */
  readonly recipients: readonly string[];
  /** The reply of the receiving server, or one that is derived from the status. */
  readonly reply: SmtpReply;
  /** The stage of the session at which it replied. */
  readonly stage: SmtpStage;
}

/** A parsed returned mail, with sanitized texts. */
export type ReturnedMail =
  /** A delivery status notification (RFC 3464). */
  | {
      readonly type: 'delivery';
      readonly statuses: readonly RecipientStatus[];
      /** The reporting server. */
      readonly reportedBy?: string;
    }
  /** A feedback report (RFC 5965). */
  | { readonly type: 'feedback'; readonly feedbackType: string; readonly reportedBy?: string }
  | { readonly type: 'unrecognised'; readonly reason: UnrecognisedReason };

/** Why a returned mail could not be used. */
type UnrecognisedReason = 'no_report' | 'no_status' | 'unreadable';
