import {
  type DeliveryId,
  type EventId,
  idFromUuid,
  uuidOf,
  type WebhookId,
  type WorkspaceId,
} from '@posthorn/kernel';
import {
  type Actor,
  decideSendAgain,
  type DeliveryStatus,
  type DueState,
  type EventDataOf,
  type EventName,
  eventPayload,
  type SendAgain,
  webhookLane,
} from '@posthorn/domain';
import type pg from 'pg';
import type { Database } from '../../connection/connection.ts';
import {
  ADD_TEST_DELIVERY,
  FIND_WEBHOOK,
  HASTEN_DELIVERY,
  LOCK_DUE,
  PUT_BACK_DELIVERY,
  READ_STATUS,
  SHARE_WEBHOOK,
} from '../../sql/delivery-changes.ts';
import { transactOn } from '../../transactions/transaction.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';

/** An example event to test a webhook with. */
interface TestEvent {
  readonly id: EventId;
  readonly name: EventName;
  readonly data: EventDataOf<EventName>;
}

/** Changes of deliveries on request; each is recorded in the audit log in its transaction. */
export class DeliveryChanges {
  constructor(private readonly database: Database) {}

  /**
   * Sends a delivery again, if this webhook of this workspace has it and was not deleted.
   *
   * @returns the outcome
   * @throws Refusal (503) when too many of the webhook wait in this process
   */
  sendAgain(
    workspaceId: WorkspaceId,
    actor: Actor,
    webhookId: WebhookId,
    id: DeliveryId,
  ): Promise<SendAgain | undefined> {
    const inTransaction = async (client: pg.ClientBase): Promise<SendAgain | undefined> => {
      const webhook = await client.query(SHARE_WEBHOOK, [uuidOf(webhookId), uuidOf(workspaceId)]);
      if (webhook.rows.length === 0) return undefined;
      const decided = await decide(client, [uuidOf(id), uuidOf(webhookId)]);
      if (decided !== 'hastened' && decided !== 'put_back') return decided;
      const sql = decided === 'hastened' ? HASTEN_DELIVERY : PUT_BACK_DELIVERY;
      const made = await client.query(sql, [uuidOf(id)]);
      // Somebody else has just made it due.
      if (made.rows.length === 0) return 'due_already';
      await recordAudit(client, this.database.clock.nowMs(), {
        workspaceId,
        action: 'webhook.redelivered',
        actor,
        subjectId: webhookId,
        detail: { deliveryId: id },
      });
      return decided;
    };
    return this.database.changes.run(webhookId, () => transactOn(this.database, inTransaction));
  }

  /** Makes an example event due for this one webhook, if the workspace has it. */
  async addTest(
    workspaceId: WorkspaceId,
    actor: Actor,
    webhookId: WebhookId,
    { id, name, data }: TestEvent,
  ): Promise<DeliveryId | undefined> {
    const now = this.database.clock.now();
    return transactOn(this.database, async (client) => {
      const webhook = await client.query(FIND_WEBHOOK, [uuidOf(webhookId), uuidOf(workspaceId)]);
      if (webhook.rows.length === 0) return undefined;
      const { rows } = await client.query<{ id: string }>(ADD_TEST_DELIVERY, [
        uuidOf(id),
        uuidOf(workspaceId),
        name,
        eventPayload(name, now, data),
        uuidOf(webhookId),
        now,
        webhookLane(webhookId),
      ]);
      const deliveryId = idFromUuid('dlv', rows[0]!.id);
      await recordAudit(client, now.getTime(), {
        workspaceId,
        action: 'webhook.tested',
        actor,
        subjectId: webhookId,
        detail: { event: name, deliveryId },
      });
      return deliveryId;
    });
  }
}

/** Once its outbox row is locked, or known to be missing, its status can only be changed by somebody else who makes it due again. */
async function decide(client: pg.ClientBase, ids: string[]): Promise<SendAgain | undefined> {
  const due = await client.query<{ state: DueState }>(LOCK_DUE, ids);
  const delivery = await client.query<{ status: DeliveryStatus }>(READ_STATUS, ids);
  return delivery.rows[0] && decideSendAgain(delivery.rows[0].status, due.rows[0]?.state);
}
