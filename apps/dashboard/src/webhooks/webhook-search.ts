import { DELIVERY_STATUSES, EVENTS, WEBHOOK_STATUSES } from '@posthorn/domain';
import type { DeliveryFilter, WebhookFilter } from '@posthorn/database';
import type { FormInput } from '../pages/form-input.ts';

/** The fields of the search for webhooks. */
export const WEBHOOK_FIELDS = ['workspace', 'status', 'receiver'] as const;

/** The states of receivers that can be searched for. */
export const RECEIVERS = { failing: 'only failures recently' } as const;

/** The filter of a search for webhooks. @throws Refusal (400) for the first invalid field */
export function webhookFilter(input: FormInput): WebhookFilter {
  return {
    workspaceId: input.workspaceId(),
    status: input.oneOf('status', WEBHOOK_STATUSES),
    isFailing: input.oneOf('receiver', RECEIVERS) === 'failing',
  };
}

/** The fields of the search for deliveries. */
export const DELIVERY_FIELDS = ['status', 'event', 'after', 'before'] as const;

/** The filter of a search for deliveries. @throws Refusal (400) for the first invalid field */
export function deliveryFilter(input: FormInput): DeliveryFilter {
  return {
    status: input.oneOf('status', DELIVERY_STATUSES),
    event: input.oneOf('event', EVENTS),
    ...input.createdRange(),
  };
}
