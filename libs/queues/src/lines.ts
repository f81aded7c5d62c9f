import { type JobName, QUEUES, type QueueName } from './jobs.ts';

/** Where the rings of lanes of one kind go: which job in which queue, and how many slots a lane has. */
interface Line {
  readonly queue: QueueName;
  readonly job: TurnJob;
  /** How many turns of one lane may run at once, over all workers: it caps a lane's parallelism, and so its share. */
  readonly slots: number;
}

/** The jobs that ask for a turn of a lane. */
type TurnJob = Extract<JobName, `${string}.turn`>;

/** The lines that lanes are served in. A webhook whose receiver keeps us waiting is served in a line apart from the others, one turn at a time. */
export const LINES = {
  email: { queue: QUEUES.emailTurns, job: 'email.turn', slots: 4 },
  event: { queue: QUEUES.eventTurns, job: 'event.turn', slots: 4 },
  webhook: { queue: QUEUES.webhookTurns, job: 'webhook.turn', slots: 4 },
  slowWebhook: { queue: QUEUES.slowWebhookTurns, job: 'slow-webhook.turn', slots: 1 },
} as const satisfies Record<string, Line>;

export type LineName = keyof typeof LINES;
