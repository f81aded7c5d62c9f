import type { DeliveryId, WebhookId } from '@posthorn/kernel';
import { DELIVERY_STATUSES, EVENTS, type PageRequest, WEBHOOK_STATUSES } from '@posthorn/domain';
import type { DeliveryFilter, WebhookFilter } from '@posthorn/database';
import type { Given } from '../pages/given.ts';

/** What is searched for among webhooks. */
export interface WebhookSearch {
  readonly filter: WebhookFilter;
  readonly page: PageRequest<WebhookId>;
}

/** The fields of the search for webhooks. */
export const WEBHOOK_FIELDS = ['workspace', 'status', 'receiver'] as const;

/** What a receiver can be searched by. */
export const RECEIVERS = { failing: 'nothing but failures of late' } as const;

/** Judges what somebody searches for. @throws Refusal (400) that names the first thing that is wrong */
export function webhookSearch(given: Given): WebhookSearch {
  return {
    filter: {
      workspaceId: given.id('workspace', 'wrk'),
      status: given.word('status', WEBHOOK_STATUSES),
      isFailing: given.word('receiver', RECEIVERS) === 'failing',
    },
    page: given.page('wh'),
  };
}

/** What is searched for among the deliveries of a webhook. */
export interface DeliverySearch {
  readonly filter: DeliveryFilter;
  readonly page: PageRequest<DeliveryId>;
}

/** The fields of the search for deliveries. */
export const DELIVERY_FIELDS = ['status', 'event', 'after', 'before'] as const;

/** Judges what somebody searches for. @throws Refusal (400) that names the first thing that is wrong */
export function deliverySearch(given: Given): DeliverySearch {
  return {
    filter: {
      status: given.word('status', DELIVERY_STATUSES),
      event: given.word('event', EVENTS),
      ...given.times(),
    },
    page: given.page('dlv'),
  };
}
