import type { Provider } from '@nestjs/common';
import {
  type Database,
  DeliveryChanges,
  DeliveryListStore,
  RecoveryStore,
  WebhookSearchStore,
  WebhookStore,
} from '@posthorn/database';
import { providersOf } from '@posthorn/platform';
import type { LaneRings } from '@posthorn/queues';
import { ReadDeliveries, RecoverDeliveries, SendDeliveriesAgain } from '@posthorn/use-cases';
import { WebhookReader } from './webhook-reader.ts';

/** The providers of the pages of webhooks. @param rings of the webhooks' lanes */
export function webhookProviders(database: Database, rings: LaneRings): Provider[] {
  const { clock } = database;
  const search = new WebhookSearchStore(database);
  const deliveries = new DeliveryListStore(database);
  const recoveries = new RecoveryStore(database);
  return providersOf(
    search,
    new WebhookReader(search),
    new ReadDeliveries(new WebhookStore(database), deliveries),
    recoveries,
    new RecoverDeliveries(recoveries, clock),
    new SendDeliveriesAgain({ changes: new DeliveryChanges(database), deliveries, rings, clock }),
  );
}
