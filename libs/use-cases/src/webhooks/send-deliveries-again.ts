import {
  type DatabaseClock,
  type DeliveryId,
  newId,
  Refusal,
  type WebhookId,
  type WorkspaceId,
} from '@posthorn/kernel';
import { type Actor, type EventName, exampleEventData, webhookLane } from '@posthorn/domain';
import type { DeliveryChanges, DeliveryListStore, DeliveryWithAttempts } from '@posthorn/database';
import type { LaneRings } from '@posthorn/queues';

interface SendDeliveriesAgainOptions {
  readonly changes: DeliveryChanges;
  readonly deliveries: Pick<DeliveryListStore, 'find'>;
  /** Rings the lanes of webhooks that answer in time; the clock rings the others. */
  readonly rings: Pick<LaneRings, 'ring'>;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
}

/** Deliveries on request: a retry, or a test of a webhook. The dispatcher makes them like all others. */
export class SendDeliveriesAgain {
  constructor(private readonly options: SendDeliveriesAgainOptions) {}

  /**
   * Makes a delivery due now. One that is due already is left unchanged.
   *
   * @returns the delivery afterwards; undefined when this webhook does not have it
   * @throws Refusal 409 while it is being posted
   */
  async sendAgain(
    workspaceId: WorkspaceId,
    actor: Actor,
    webhookId: WebhookId,
    id: DeliveryId,
  ): Promise<DeliveryWithAttempts | undefined> {
    const { changes } = this.options;
    const decided = await changes.sendAgain(workspaceId, actor, webhookId, id);
    if (decided === 'under_way') throw deliveryUnderWay();
    return decided && this.rung(workspaceId, webhookId, id);
  }

  /**
   * Makes an example event due for this webhook alone.
   *
   * @returns its delivery; undefined when the workspace does not have the webhook
   */
  async sendTest(
    workspaceId: WorkspaceId,
    actor: Actor,
    webhookId: WebhookId,
    name: EventName,
  ): Promise<DeliveryWithAttempts | undefined> {
    const { changes, clock } = this.options;
    const event = { id: newId('evt', clock.nowMs()), name, data: exampleEventData(name, workspaceId) };
    const id = await changes.addTest(workspaceId, actor, webhookId, event);
    return id && this.rung(workspaceId, webhookId, id);
  }

  /** Rings after the commit; the clock makes up for a lost ring. */
  private rung(
    workspaceId: WorkspaceId,
    webhookId: WebhookId,
    id: DeliveryId,
  ): Promise<DeliveryWithAttempts | undefined> {
    this.options.rings.ring(webhookLane(webhookId));
    return this.options.deliveries.find(workspaceId, webhookId, id);
  }
}

/** The delivery is being posted, so it is not known yet whether it must be sent again. */
export function deliveryUnderWay(): Refusal {
  return new Refusal(
    409,
    'The delivery is being posted right now; wait until this attempt is over, then send it again if it is still needed',
  );
}
