import { DELIVERY_STATUSES, EVENTS, WEBHOOK_STATUSES } from '@posthorn/domain';
import type { DeliveryFilter, WebhookFilter } from '@posthorn/database';
import type { Given } from '../pages/given.ts';

/** The fields of the search for webhooks. */
export const WEBHOOK_FIELDS = ['workspace', 'status', 'receiver'] as const;

/** What a receiver can be searched by. */
export const RECEIVERS = { failing: 'nothing but failures of late' } as const;

/** Which webhooks somebody searches for. @throws Refusal (400) that names the first thing that is wrong */
export function webhookFilter(given: Given): WebhookFilter {
  return {
    workspaceId: given.id('workspace', 'wrk'),
    status: given.word('status', WEBHOOK_STATUSES),
    isFailing: given.word('receiver', RECEIVERS) === 'failing',
  };
}

/** The fields of the search for deliveries. */
export const DELIVERY_FIELDS = ['status', 'event', 'after', 'before'] as const;

/** Which deliveries of a webhook somebody searches for. @throws Refusal (400) that names the first thing that is wrong */
export function deliveryFilter(given: Given): DeliveryFilter {
  return {
    status: given.word('status', DELIVERY_STATUSES),
    event: given.word('event', EVENTS),
    ...given.times(),
  };
}
