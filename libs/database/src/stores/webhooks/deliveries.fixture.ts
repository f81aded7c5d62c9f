import { idFromUuid, newId, newUuid, uuidOf, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import { type EventDataOf, eventLane, type JsonObject, webhookLane } from '@posthorn/domain';
import { recordEvents } from '../events/record-events.ts';
import type { TestStores } from '../../test-stores.fixture.ts';
import type { ClaimedDelivery, DeliveryOutcome } from './claimed-delivery.ts';
import { DeliveryStore, type ClaimCapacity } from './delivery-store.ts';
import type { FannedOut } from './fanned-out.ts';
import { transact } from '../../transactions/transaction.ts';

const UNLIMITED_BYTES = 2 ** 40;
const LEASE_MS = 60_000;

/** The data of an event about some contact. */
export function someContact(
  workspaceId: WorkspaceId,
  properties: JsonObject = {},
): EventDataOf<'CONTACT_CREATED'> {
  const [id, createdAt] = [newId('ctc', Date.now()), new Date().toISOString()];
  return { contact: { id, email: 'ada@example.net', properties, createdAt, workspaceId } };
}

/** Helpers for tests of deliveries. */
export class DeliveryTestStores {
  readonly deliveries: DeliveryStore;

  constructor(readonly stores: TestStores) {
    this.deliveries = new DeliveryStore(stores.database);
  }

  async addWebhook(workspaceId: WorkspaceId): Promise<WebhookId> {
    const id = newUuid(Date.now());
    await this.stores.ask(
      `INSERT INTO webhooks (id, workspace_id, url, events, token, status)
       VALUES ($1, $2, 'https://example.com', '{CONTACT_CREATED}', '', 'ACTIVE')`,
      [id, uuidOf(workspaceId)],
    );
    return idFromUuid('wh', id);
  }

  /** Records events of a workspace, in one transaction. */
  async record(workspaceId: WorkspaceId, count: number): Promise<void> {
    const { database } = this.stores;
    const events = Array.from({ length: count }, (_, n) => ({
      workspaceId,
      name: 'CONTACT_CREATED' as const,
      data: someContact(workspaceId, { n }),
    }));
    await transact(database, (transaction) => recordEvents(transaction, Date.now(), events));
  }

  /** Fans out events without claiming deliveries. */
  fanOut(workspaceId: WorkspaceId, maxRows = 1_000): Promise<FannedOut> {
    return this.fanOutInto({ rows: 0, bytes: 0, excludedLanes: [] }, workspaceId, maxRows);
  }

  /** Fans out events, and claims as many deliveries as fit into the capacity. */
  fanOutInto(
    capacity: Partial<ClaimCapacity>,
    workspaceId: WorkspaceId,
    maxRows = 1_000,
  ): Promise<FannedOut> {
    const demand = { laneId: eventLane(workspaceId), maxRows };
    return this.deliveries.fanOut(
      [demand],
      { rows: 1_000, bytes: UNLIMITED_BYTES, excludedLanes: [], ...capacity },
      LEASE_MS,
    );
  }

  claim(webhookId: WebhookId, maxRows = 100, areSlow = false): Promise<ClaimedDelivery[]> {
    const demand = { laneId: webhookLane(webhookId), maxRows };
    return this.deliveries.claim([demand], UNLIMITED_BYTES, LEASE_MS, areSlow);
  }

  /** Records a number of events, and claims their deliveries. */
  async recordAndClaim(
    workspaceId: WorkspaceId,
    webhookId: WebhookId,
    count = 1,
  ): Promise<ClaimedDelivery[]> {
    await this.record(workspaceId, count);
    await this.fanOut(workspaceId);
    return this.claim(webhookId);
  }

  /** What became of a delivery: it succeeded, but for `change`. */
  outcome(delivery: ClaimedDelivery, change: Partial<DeliveryOutcome> = {}): DeliveryOutcome {
    const { id, claims, laneId, attemptsMade } = delivery;
    return {
      id,
      claims,
      laneId,
      status: 'SUCCEEDED',
      retryAfterMs: null,
      steps: 0,
      attempt: {
        number: attemptsMade + 1,
        durationMs: 3.4,
        statusCode: 200,
        headers: { a: 'b' },
        body: 'ok',
      },
      ...change,
    };
  }

  /** As {@link outcome}: refused, and to be tried again. */
  failed(delivery: ClaimedDelivery, change: Partial<DeliveryOutcome> = {}): DeliveryOutcome {
    return this.outcome(delivery, {
      status: null,
      retryAfterMs: 5_000,
      steps: delivery.attempts + 1,
      attempt: {
        number: delivery.attemptsMade + 1,
        durationMs: 3,
        statusCode: 500,
        errorClass: 'http',
        reason: 'it answered 500',
      },
      ...change,
    });
  }
}
