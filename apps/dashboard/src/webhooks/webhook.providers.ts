import type { Provider } from '@nestjs/common';
import {
  type Database,
  DeliveryChanges,
  DeliveryListStore,
  RecoveryStore,
  WebhookSearchStore,
  WebhookStore,
} from '@posthorn/database';
import type { LaneRings } from '@posthorn/queues';
import { ReadDeliveries, RecoverDeliveries, SendDeliveriesAgain } from '@posthorn/use-cases';
import { WebhookReader } from './webhook-reader.ts';

/** The providers of the pages of webhooks. @param rings of the webhooks' lanes */
export function webhookProviders(database: Database, rings: LaneRings): Provider[] {
  const { clock } = database;
  const search = new WebhookSearchStore(database);
  const deliveries = new DeliveryListStore(database);
  const recoveries = new RecoveryStore(database);
  const again = { changes: new DeliveryChanges(database), deliveries, rings, clock };
  return [
    { provide: WebhookSearchStore, useValue: search },
    { provide: WebhookReader, useValue: new WebhookReader(search) },
    { provide: ReadDeliveries, useValue: new ReadDeliveries(new WebhookStore(database), deliveries) },
    { provide: RecoveryStore, useValue: recoveries },
    { provide: RecoverDeliveries, useValue: new RecoverDeliveries(recoveries, clock) },
    { provide: SendDeliveriesAgain, useValue: new SendDeliveriesAgain(again) },
  ];
}
