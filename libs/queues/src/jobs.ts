import { isLaneId, type LaneId } from '@posthorn/domain';

/** Asks for a turn of a lane, in one of its slots. */
export interface Turn {
  readonly v: 1;
  readonly laneId: LaneId;
  readonly slot: string;
}

/**
 * Everything that crosses Redis: ids only, versioned. A job is a doorbell: whatever it says is judged before it is used,
 * and nothing is lost when it never arrives.
 */
export interface Jobs {
  /** "This lane of emails may have due work." */
  'email.turn': Turn;
  /** "This workspace may have events that are due." */
  'event.turn': Turn;
  /** "This webhook may have deliveries that are due." */
  'webhook.turn': Turn;
  /** The same for one whose receiver keeps us waiting. */
  'slow-webhook.turn': Turn;
  /** Shows that a worker still takes jobs. */
  'worker.canary': { readonly v: 1 };
  /** Deletes idempotency keys that have expired. */
  'idempotency-keys.expire': { readonly v: 1 };
  /** Deletes invitations that ended long ago. */
  'invitations.expire': { readonly v: 1 };
  /** Looks up the records of the sending domains that are due. */
  'domains.check': { readonly v: 1 };
  /** Deletes the links that verified addresses. */
  'verification-links.expire': { readonly v: 1 };
  /** Notes that the installation is at work, so that a backup of its database says when it was made. */
  'installation.note-alive': { readonly v: 1 };
  /** Makes the partitions of the months to come. */
  'partitions.make': { readonly v: 1 };
  /** Drops old events. */
  'events.expire': { readonly v: 1 };
  /** Gives deliveries up that have been held for too long. */
  'deliveries.expire': { readonly v: 1 };
  /** Drops the months of emails that are past every workspace's time. */
  'retention.drop': { readonly v: 1 };
  /** Removes what workspaces keep for less long, group by group. */
  'retention.remove': { readonly v: 1 };
  /** Makes deliveries due again whose webhook is not disabled any more. */
  'deliveries.put-back': { readonly v: 1 };
  /** Makes deliveries due again that failed in a time, where somebody has asked for it. */
  'deliveries.recover': { readonly v: 1 };
  /** Forgets recoveries that were completed long ago. */
  'recoveries.forget': { readonly v: 1 };
}

export type JobName = keyof Jobs;

/** The queues; each is consumed by one app. */
export const QUEUES = {
  emailTurns: 'email-turns',
  eventTurns: 'event-turns',
  webhookTurns: 'webhook-turns',
  slowWebhookTurns: 'webhook-turns-slow',
  maintenance: 'maintenance',
} as const;

export type QueueName = (typeof QUEUES)[keyof typeof QUEUES];

/** What handles the jobs of a queue: a job of the catalogue without its handler does not compile. */
export type JobHandlers<Names extends JobName> = {
  readonly [Name in Names]: (payload: Jobs[Name]) => Promise<void>;
};

/** Whether a turn's payload, which comes from Redis and so from outside, is one. */
function isTurn(payload: unknown): payload is Turn {
  if (typeof payload !== 'object' || payload === null) return false;
  const { v, laneId, slot } = payload as Record<string, unknown>;
  return v === 1 && isLaneId(laneId) && typeof slot === 'string' && slot.length <= 8;
}

/** Hands the turns that are asked for to whoever serves them. */
export function turnHandler(
  serve: (laneId: LaneId, slot: string) => Promise<void>,
): (payload: unknown) => Promise<void> {
  return async (payload) => {
    if (!isTurn(payload)) throw new Error('the payload of a turn names no valid lane');
    await serve(payload.laneId, payload.slot);
  };
}
