import { type JobName, QUEUES, type QueueName } from './jobs.ts';

/** A queue of turns: its BullMQ queue and job, and how many slots each lane has in it. */
interface TurnQueue {
  readonly queue: QueueName;
  readonly job: TurnJob;
  /** How many turns of one lane may run at once, over all workers: caps the parallelism, and so the share, of a lane. */
  readonly slots: number;
}

/** The jobs that request a turn of a lane. */
type TurnJob = Extract<JobName, `${string}.turn`>;

/** The queues of turns. Webhooks with slow receivers have a queue of their own, with one turn of a lane at a time. */
export const TURN_QUEUES = {
  email: { queue: QUEUES.emailTurns, job: 'email.turn', slots: 4 },
  event: { queue: QUEUES.eventTurns, job: 'event.turn', slots: 4 },
  webhook: { queue: QUEUES.webhookTurns, job: 'webhook.turn', slots: 4 },
  slowWebhook: { queue: QUEUES.slowWebhookTurns, job: 'slow-webhook.turn', slots: 1 },
} as const satisfies Record<string, TurnQueue>;

export type TurnQueueName = keyof typeof TURN_QUEUES;
