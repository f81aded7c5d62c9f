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
  /** The email that led to it; null where somebody put it on the list. */
  readonly emailId: EmailId | null;
  readonly createdBy: Actor;
  readonly createdAt: Date;
}

/**
 * Why nothing is sent to a recipient, as the timeline has it: why they are on the list, or that they have unsubscribed from emails of
 * this kind.
 */
export type WithheldReason = Lowercase<SuppressionReason> | 'unsubscribed';
