import type { SmtpReply } from '../delivery.ts';

/** What a server says that it has done for a recipient (RFC 3464, section 2.3.3). */
export const RECIPIENT_ACTIONS = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const;

export type RecipientAction = (typeof RECIPIENT_ACTIONS)[number];

/** What a delivery status notification says of one recipient. */
export interface RecipientStatus {
  readonly action: RecipientAction;
  /** The addresses that it names: the final one, the original one; none where it names none. */
  readonly recipients: readonly string[];
  /** What the receiving server answered, or what follows from the status alone. */
  readonly reply: SmtpReply;
}

/** What a mail that came back says, as far as it is understood. Its texts are bounded and without controls. */
export type ReturnedMail =
  /** A delivery status notification (RFC 3464). */
  | {
      readonly type: 'delivery';
      readonly statuses: readonly RecipientStatus[];
      /** Which server says so. */
      readonly reportedBy?: string;
    }
  /** A feedback report (RFC 5965). */
  | { readonly type: 'feedback'; readonly feedbackType: string; readonly reportedBy?: string }
  | { readonly type: 'unrecognised'; readonly reason: UnrecognisedReason };

/** Why a mail that came back says nothing. */
type UnrecognisedReason = 'no_report' | 'no_status' | 'unreadable';
