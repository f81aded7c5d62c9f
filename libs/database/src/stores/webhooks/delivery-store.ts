import { suspensionProofNowMs, uuidOf, type WebhookId } from '@posthorn/kernel';
import type { LaneDemand, LaneId } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import { columnsOf, type Row } from '../../sql/binary-array.ts';
import { AdaptiveGroupSize } from '../../transactions/adaptive-group-size.ts';
import {
  CLAIM_DELIVERIES,
  RECORD_OWN_FAULTS,
  OUTCOME_COLUMNS,
  READ_RECEIVERS,
  RECORD_DELIVERIES,
} from '../../sql/deliveries.ts';
import { FAN_OUT_EVENTS, LOCK_DUE_EVENTS } from '../../sql/fan-out.ts';
import { transactOn } from '../../transactions/transaction.ts';
import { ReadStarts, type LaneRow } from '../outbox/read-starts.ts';
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
import { type DueEvent, fannedOut, type FannedOut, type FannedOutRow } from './fanned-out.ts';
import { withLockedRows } from '../with-locked-rows.ts';

/** How many deliveries the process that creates them can claim. */
export interface ClaimCapacity {
  readonly rows: number;
  readonly bytes: number;
  /** Webhook lanes that already hold enough. */
  readonly excludedLanes: readonly LaneId[];
}

/** Creates and claims deliveries of events to webhooks, and records their outcomes. Leases are renewed, and claims given back, by OutboxStore. */
export class DeliveryStore {
  /** How many events of each lane to fan out in one transaction. */
  private readonly eventsTogether = new AdaptiveGroupSize();
  private readonly starts: Readonly<Record<'events' | 'deliveries', ReadStarts>>;

  constructor(private readonly database: Database) {
    this.starts = { events: new ReadStarts(database.clock), deliveries: new ReadStarts(database.clock) };
  }

  /** Fans out due events of several distinct lanes, fewer than demanded if that takes too long, and claims deliveries as far as there is capacity. */
  fanOut(demands: readonly LaneDemand[], capacity: ClaimCapacity, leaseMs: number): Promise<FannedOut> {
    const max = Math.max(...demands.map(({ maxRows }) => maxRows));
    return this.eventsTogether.run(max, (events) => {
      const fewer = demands.map(({ laneId, maxRows }) => ({ laneId, maxRows: Math.min(maxRows, events) }));
      return this.fanOutTogether(fewer, capacity, leaseMs);
    });
  }

  private fanOutTogether(
    demands: readonly LaneDemand[],
    capacity: ClaimCapacity,
    leaseMs: number,
  ): Promise<FannedOut> {
    const askedAtMs = suspensionProofNowMs();
    return transactOn(this.database, async (client) => {
      const due = await this.starts.events.claim(demands, async (values) => {
        const lock = { name: 'lock_due_events', text: LOCK_DUE_EVENTS, values };
        return (await client.query<DueEvent>(lock)).rows;
      });
      if (due.length === 0) return fannedOut(demands, [], [], askedAtMs);
      const ids = due.map(({ id }) => id);
      const { rows } = await client.query<FannedOutRow>({
        name: 'fan_out_events',
        text: FAN_OUT_EVENTS,
        values: [ids, capacity.rows, capacity.bytes, `${leaseMs} ms`, capacity.excludedLanes],
      });
      return fannedOut(demands, due, rows, askedAtMs);
    });
  }

  /** Claims ready deliveries of several distinct lanes; either only of slow lanes, or only of others. */
  async claim(
    demands: readonly LaneDemand[],
    maxBytesPerLane: number,
    leaseMs: number,
    areSlow: boolean,
  ): Promise<ClaimedDelivery[]> {
    const askedAtMs = suspensionProofNowMs();
    const rows = await this.starts.deliveries.claim(demands, async (lanes) => {
      const values = [...lanes, maxBytesPerLane, `${leaseMs} ms`, areSlow];
      const claim = { name: 'claim_deliveries', text: CLAIM_DELIVERIES, values };
      return (await this.database.pool.query<DeliveryRow & LaneRow>(claim)).rows;
    });
    return rows.map(({ dueSeconds: _, ...row }) => claimedDelivery(row, askedAtMs));
  }

  /** The current receivers of webhooks, in the order of the ids; undefined for a deleted webhook. */
  async readReceivers(ids: readonly WebhookId[]): Promise<(Receiver | undefined)[]> {
    const { rows } = await this.database.pool.query<ReceiverRow>({
      name: 'read_receivers',
      text: READ_RECEIVERS,
      values: [ids.map(uuidOf)],
    });
    const receivers = new Map(rows.map((row) => [row.id, receiver(row)]));
    return ids.map((id) => receivers.get(uuidOf(id)));
  }

  /** Records our own faults among the attempts of their deliveries, the first of several in a row. Idempotent. */
  async recordOwnFaults(faults: readonly OwnFault[]): Promise<void> {
    if (faults.length === 0) return;
    const rows = faults.map(({ id, claims, number, reason, durationMs }) => ({
      id: uuidOf(id),
      claims,
      number,
      reason,
      duration_ms: Math.round(durationMs),
    }));
    await this.database.pool.query(RECORD_OWN_FAULTS, [JSON.stringify(rows)]);
  }

  /** Records outcomes. @returns for each, whether its claim still held and so the outcome took effect */
  async record(outcomes: readonly DeliveryOutcome[]): Promise<boolean[]> {
    const ids = outcomes.map(({ id }) => uuidOf(id));
    const { rows } = await withLockedRows(this.database, ids, (client) =>
      client.query<{ live: boolean }>({
        name: 'record_deliveries',
        text: RECORD_DELIVERIES,
        values: columnsOf(OUTCOME_COLUMNS, outcomes.map(outcomeRow)),
      }),
    );
    return rows.map(({ live }) => live);
  }
}

function outcomeRow(outcome: DeliveryOutcome, n: number): Row<typeof OUTCOME_COLUMNS> {
  const { id, claims, laneId, status, retryAfterMs, steps, attempt } = outcome;
  return {
    n,
    id,
    claims,
    lane_id: laneId,
    status,
    retry_after_ms: retryAfterMs,
    steps,
    attempt: attempt !== null,
    number: attempt?.number,
    status_code: attempt?.statusCode,
    error_class: attempt?.errorClass,
    reason: attempt?.reason,
    headers: attempt?.headers && JSON.stringify(attempt.headers),
    body: attempt?.body,
    duration_ms: attempt && Math.round(attempt.durationMs),
  };
}
