import type { RecoveryId, WebhookId } from '@posthorn/kernel';

/** The states of a recovery, with their meanings. */
export const RECOVERY_STATES = {
  COUNTING: 'how many deliveries failed is counted',
  RUNNING: 'they are made due, a group at a time',
  COMPLETED: 'all of them were made due',
} as const;

export type RecoveryState = keyof typeof RECOVERY_STATES;

/** A recovery: it makes the failed deliveries of a webhook in a period due again. */
export interface Recovery {
  readonly id: RecoveryId;
  readonly webhookId: WebhookId;
  /** The start of the period, inclusive. */
  readonly since: Date;
  /** The end of the period, exclusive. */
  readonly until: Date;
  readonly state: RecoveryState;
  /** The number of failed deliveries when they were counted. */
  readonly total: number;
  /** The number of deliveries made due so far. */
  readonly done: number;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

/** How long a completed recovery is kept. */
export const RECOVERIES_KEPT_DAYS = 90;
