import type { Provider } from '@nestjs/common';
import {
  type Database,
  DeliveryChanges,
  DeliveryListStore,
  RecoveryStore,
  WebhookStore,
} from '@posthorn/database';
import type { WebhookUrlPolicy } from '@posthorn/domain';
import type { LaneRings } from '@posthorn/queues';
import type { SecretBox } from '@posthorn/signing';
import { ManageWebhooks, ReadDeliveries, RecoverDeliveries, SendDeliveriesAgain } from '@posthorn/use-cases';

export interface WebhookParts {
  readonly database: Database;
  readonly secretBox: SecretBox;
  /** Where webhooks may lead. */
  readonly webhookPolicy: WebhookUrlPolicy;
  /** For deliveries that are asked for by hand. */
  readonly webhookRings: LaneRings;
}

/** What the routes of webhooks and their deliveries need. */
export function webhookProviders(parts: WebhookParts): Provider[] {
  const { database, secretBox, webhookPolicy, webhookRings: rings } = parts;
  const { clock } = database;
  const webhooks = new WebhookStore(database);
  const deliveries = new DeliveryListStore(database);
  const recoveries = new RecoveryStore(database);
  const again = { changes: new DeliveryChanges(database), deliveries, rings, clock };
  const manage = { webhooks, clock, box: secretBox, policy: webhookPolicy };
  return [
    { provide: ManageWebhooks, useValue: new ManageWebhooks(manage) },
    { provide: ReadDeliveries, useValue: new ReadDeliveries(webhooks, deliveries) },
    { provide: RecoveryStore, useValue: recoveries },
    { provide: RecoverDeliveries, useValue: new RecoverDeliveries(recoveries, clock) },
    { provide: SendDeliveriesAgain, useValue: new SendDeliveriesAgain(again) },
  ];
}
