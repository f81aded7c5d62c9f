import { type Provider } from '@nestjs/common';
import { type Database, DeliveryListStore, WebhookStore } from '@posthorn/database';
import { type WebhookUrlPolicy } from '@posthorn/domain';
import { type SecretBox } from '@posthorn/signing';
import { ManageWebhooks, ReadDeliveries } from '@posthorn/use-cases';

export interface WebhookParts {
  readonly database: Database;
  readonly secretBox: SecretBox;
  readonly webhookPolicy: WebhookUrlPolicy;
}

/** What the routes of webhooks and their deliveries need. */
export function webhookProviders({ database, secretBox, webhookPolicy }: WebhookParts): Provider[] {
  const webhooks = new WebhookStore(database);
  const manage = { webhooks, clock: database.clock, box: secretBox, policy: webhookPolicy };
  return [
    { provide: ManageWebhooks, useValue: new ManageWebhooks(manage) },
    { provide: ReadDeliveries, useValue: new ReadDeliveries(webhooks, new DeliveryListStore(database)) },
  ];
}
