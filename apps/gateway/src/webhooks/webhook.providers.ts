import type { Provider } from '@nestjs/common';
import {
  type Database,
  DeliveryChanges,
  DeliveryListStore,
  RecoveryStore,
  WebhookStore,
} from '@posthorn/database';
import type { WebhookUrlPolicy } from '@posthorn/domain';
import { providersOf } from '@posthorn/platform';
import type { LaneRings } from '@posthorn/queues';
import type { SecretBox } from '@posthorn/signing';
import { ManageWebhooks, ReadDeliveries, RecoverDeliveries, SendDeliveriesAgain } from '@posthorn/use-cases';

export interface WebhookParts {
  readonly database: Database;
  readonly secretBox: SecretBox;
  /** The allowed targets of webhooks. */
  readonly webhookPolicy: WebhookUrlPolicy;
  /** For tests and redeliveries. */
  readonly webhookRings: LaneRings;
}

/** The providers of the routes of webhooks and their deliveries. */
export function webhookProviders(parts: WebhookParts): Provider[] {
  const { database, secretBox, webhookPolicy, webhookRings: rings } = parts;
  const { clock } = database;
  const webhooks = new WebhookStore(database);
  const deliveries = new DeliveryListStore(database);
  const recoveries = new RecoveryStore(database);
  return providersOf(
    new ManageWebhooks({ webhooks, clock, box: secretBox, policy: webhookPolicy }),
    new ReadDeliveries(webhooks, deliveries),
    recoveries,
    new RecoverDeliveries(recoveries, clock),
    new SendDeliveriesAgain({ changes: new DeliveryChanges(database), deliveries, rings, clock }),
  );
}
