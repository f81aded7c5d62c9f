import type { Provider } from '@nestjs/common';
import { type Database, SubscriptionStore } from '@posthorn/database';
import { ChangeSubscription, type UnsubscribeLinks } from '@posthorn/use-cases';

export interface UnsubscribeParts {
  readonly database: Database;
  readonly unsubscribeLinks: UnsubscribeLinks;
}

/** What the pages ask for that unsubscribe links lead to. */
export function unsubscribeProviders({ database, unsubscribeLinks }: UnsubscribeParts): Provider[] {
  const subscriptions = new SubscriptionStore(database);
  return [
    {
      provide: ChangeSubscription,
      useValue: new ChangeSubscription({ subscriptions, links: unsubscribeLinks }),
    },
  ];
}
