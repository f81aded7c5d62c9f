import type { RecoveryId, WebhookId } from '@posthorn/kernel';

/** What each state of a recovery means. */
export const RECOVERY_STATES = {
  COUNTING: 'how many deliveries failed is counted',
  RUNNING: 'they are made due, a group at a time',
  COMPLETED: 'all of them were made due',
} as const;

export type RecoveryState = keyof typeof RECOVERY_STATES;

/** The deliveries of a webhook that failed in a time, which are made due again. */
export interface Recovery {
  readonly id: RecoveryId;
  readonly webhookId: WebhookId;
  /** Of events at this moment or later. */
  readonly since: Date;
  /** Of events before this moment. */
  readonly until: Date;
  readonly state: RecoveryState;
  /** How many had failed when they were counted. */
  readonly total: number;
  /** How many were made due. */
  readonly done: number;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

/** For how long one that is completed can be read. */
export const RECOVERIES_KEPT_DAYS = 90;
