import { isLaneId, type LaneId } from '@posthorn/domain';

/** A request for a turn of a lane, in one of the lane's slots. */
export interface Turn {
  readonly v: 1;
  readonly laneId: LaneId;
  readonly slot: string;
}

/** A request to look for work of a kind. */
interface Wake {
  readonly v: 1;
}

/** The regular jobs, which the scheduler runs at intervals. */
interface RegularJobs {
  /** Deletes idempotency keys that have expired. */
  'idempotency-keys.expire': Wake;
  /** Deletes invitations that expired long ago. */
  'invitations.expire': Wake;
  /** Checks the DNS records of the sending domains whose check is due. */
  'domains.check': Wake;
  /** Deletes old links for verifying addresses. */
  'verification-links.expire': Wake;
  /** Records that the installation is alive, so that a restored backup shows when it was made. */
  'installation.note-alive': Wake;
  /** Creates the partitions of the coming months. */
  'partitions.make': Wake;
  /** Drops old events. */
  'events.expire': Wake;
  /** Gives up deliveries that have been on hold for too long. */
  'deliveries.expire': Wake;
  /** Drops the monthly partitions of emails that are past every workspace's retention. */
  'retention.drop': Wake;
  /** Deletes, in batches, the data of workspaces whose retention is shorter than that. */
  'retention.remove': Wake;
  /** Makes failed deliveries due again after their webhook was re-enabled. */
  'deliveries.put-back': Wake;
  /** Makes failed deliveries of a period due again, as requested by recoveries. */
  'deliveries.recover': Wake;
  /** Deletes recoveries that were completed long ago. */
  'recoveries.forget': Wake;
  /** Erases persons, as requested by workspaces. */
  'erasures.run': Wake;
  /** Deletes erasures that were completed long ago. */
  'erasures.forget': Wake;
}

/**
 * The catalogue of all jobs. Payloads are versioned and contain ids only. A job is merely a wake-up: its payload is validated before use, and nothing is
 * lost when it never arrives.
 */
export interface Jobs extends RegularJobs {
  /** This lane of emails may have due work. */
  'email.turn': Turn;
  /** This workspace may have due events. */
  'event.turn': Turn;
  /** This webhook may have due deliveries. */
  'webhook.turn': Turn;
  /** The same for a webhook whose receiver is slow. */
  'slow-webhook.turn': Turn;
  /** Does nothing; shows that a worker still consumes jobs. */
  'worker.canary': Wake;
}

export type JobName = keyof Jobs;
export type RegularJobName = keyof RegularJobs;

/** The queues; each is consumed by one app. */
export const QUEUES = {
  emailTurns: 'email-turns',
  eventTurns: 'event-turns',
  webhookTurns: 'webhook-turns',
  slowWebhookTurns: 'webhook-turns-slow',
  maintenance: 'maintenance',
} as const;

export type QueueName = (typeof QUEUES)[keyof typeof QUEUES];

/** The handlers of a queue's jobs: a job without a handler does not compile. */
export type JobHandlers<Names extends JobName> = {
  readonly [Name in Names]: (payload: Jobs[Name]) => Promise<void>;
};

/**
 * The payload of a job, which comes from Redis and is therefore untrusted: that of a turn is validated; that of any other job is not read.
 *
 * @throws Error when the payload of a turn is invalid
 */
export function payloadOf<Name extends JobName>(name: Name, payload: unknown): Jobs[Name] {
  if (name.endsWith('.turn') && !isTurn(payload))
    throw new Error('the payload of a turn names no valid lane');
  return payload as Jobs[Name];
}

function isTurn(payload: unknown): payload is Turn {
  if (typeof payload !== 'object' || payload === null) return false;
  const { v, laneId, slot } = payload as Record<string, unknown>;
  return v === 1 && isLaneId(laneId) && typeof slot === 'string' && slot.length <= 8;
}
