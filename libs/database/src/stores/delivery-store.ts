import { uuidOf, type WebhookId } from '@posthorn/kernel';
import { type LaneId } from '@posthorn/domain';
import type pg from 'pg';
import { type Database } from '../connection.ts';
import {
  CLAIM_DELIVERIES,
  FAN_OUT_EVENTS,
  NOTE_OWN_FAULTS,
  READ_RECEIVERS,
  RECORD_DELIVERIES,
} from '../sql/deliveries.ts';
import {
  type ClaimedDelivery,
  claimedDelivery,
  type DeliveryOutcome,
  type DeliveryRow,
  type OwnFault,
  type Receiver,
  receiver,
  type ReceiverRow,
} from './claimed-delivery.ts';
import { type LaneDemand } from './outbox-store.ts';

/** What fanning out did to a lane: events that became deliveries, or deliveries that were made. */
export interface FannedOut {
  readonly queue: 'event' | 'webhook';
  readonly laneId: LaneId;
  readonly rows: number;
  /** Of a lane of events: whether there may be more. */
  readonly hasMore: boolean;
  /** Of a lane of a webhook: whether its receiver lets us wait. */
  readonly isSlow: boolean;
}

/**
 * The deliveries of events to webhooks: made, claimed, and what became of them. What is due of them is in the outbox; leases are
 * renewed and claims given back by OutboxStore. Its statements have no name, for the reason that those have none.
 */
export class DeliveryStore {
  private readonly pool: pg.Pool;

  constructor(database: Database) {
    this.pool = database.pool;
  }

  /** Makes the deliveries of up to so many due events of each lane. No lane may be named twice. */
  async fanOut(demands: readonly LaneDemand[]): Promise<FannedOut[]> {
    const { rows } = await this.pool.query<FannedOut>({
      text: FAN_OUT_EVENTS,
      values: columnsOf(demands),
    });
    return rows;
  }

  /** Claims up to so many ready deliveries of each lane, if it is as slow as that. No lane may be named twice. */
  async claim(
    demands: readonly LaneDemand[],
    maxBytesPerLane: number,
    leaseMs: number,
    areSlow: boolean,
  ): Promise<ClaimedDelivery[]> {
    const { rows } = await this.pool.query<DeliveryRow>({
      text: CLAIM_DELIVERIES,
      values: [...columnsOf(demands), maxBytesPerLane, `${leaseMs} ms`, areSlow],
    });
    return rows.map(claimedDelivery);
  }

  /** The webhooks as they are at this moment, in the order of the ids; undefined for one that is deleted. */
  async readReceivers(ids: readonly WebhookId[]): Promise<(Receiver | undefined)[]> {
    const { rows } = await this.pool.query<ReceiverRow>({
      text: READ_RECEIVERS,
      values: [ids.map(uuidOf)],
    });
    const receivers = new Map(rows.map((row) => [row.id, receiver(row)]));
    return ids.map((id) => receivers.get(uuidOf(id)));
  }

  /** Keeps faults of ours among the attempts of their deliveries, of several in a row the first. Twice is once. */
  async noteOwnFaults(faults: readonly OwnFault[]): Promise<void> {
    if (faults.length === 0) return;
    const rows = faults.map(({ id, claims, number, durationMs }) => ({
      ...{ id: uuidOf(id), claims, number, duration_ms: Math.round(durationMs) },
    }));
    await this.pool.query(NOTE_OWN_FAULTS, [JSON.stringify(rows)]);
  }

  /** Records outcomes; says for each whether its claim still held, and so whether it changed the delivery's state. */
  async record(outcomes: readonly DeliveryOutcome[]): Promise<boolean[]> {
    const { rows } = await this.pool.query<{ live: boolean }>({
      text: RECORD_DELIVERIES,
      values: [JSON.stringify(outcomes.map(outcomeAsJson))],
    });
    return rows.map(({ live }) => live);
  }
}

function columnsOf(demands: readonly LaneDemand[]): [string[], number[]] {
  return [demands.map(({ laneId }) => laneId), demands.map(({ maxRows }) => maxRows)];
}

function outcomeAsJson(outcome: DeliveryOutcome, n: number): object {
  const { attempt } = outcome;
  return {
    ...{ n, id: uuidOf(outcome.id), claims: outcome.claims },
    ...{ lane_id: outcome.laneId, status: outcome.status, retry_after_ms: outcome.retryAfterMs },
    ...{ steps: outcome.steps, attempt: attempt !== null },
    ...(attempt && {
      ...{ number: attempt.number, status_code: attempt.statusCode, error_class: attempt.errorClass },
      ...{ reason: attempt.reason, headers: attempt.headers, duration_ms: Math.round(attempt.durationMs) },
      body: attempt.body,
    }),
  };
}
