import type { EmailId, SuppressionId, WorkspaceId } from '@posthorn/kernel';
import type { Actor } from './actor.ts';

/** Why an address is on the suppression list. */
export const SUPPRESSION_REASONS = {
  HARD_BOUNCE: 'the receiving side said that there is no such recipient',
  COMPLAINT: 'the recipient reported an email as unwanted',
  MANUAL: 'somebody put it on the list',
} as const;

export type SuppressionReason = keyof typeof SUPPRESSION_REASONS;

/** An address that a workspace's emails are not sent to. */
export interface Suppression {
  readonly id: SuppressionId;
  readonly workspaceId: WorkspaceId;
  /** The address as it was first given; no two of a workspace differ only in case. */
  readonly email: string;
  readonly reason: SuppressionReason;
  /** The email that caused it; null: somebody added the address. */
  readonly emailId: EmailId | null;
  readonly createdBy: Actor;
  readonly createdAt: Date;
}

/**
 * Why an email is not sent to a recipient, as recorded in the timeline: the reason of the suppression, or that they have unsubscribed.
 */
export type WithheldReason = Lowercase<SuppressionReason> | 'unsubscribed';
