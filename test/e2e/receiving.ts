import type { WebhookId } from '@posthorn/kernel';
import { partIn } from './api.ts';
import type { Stack } from './stack.ts';

/** A webhook in the answer to its creation. */
export interface CreatedWebhook {
  readonly id: WebhookId;
  readonly token: string;
}

/** Creates a webhook. Default: for `CONTACT_CREATED`. */
export async function subscribe(
  stack: Stack,
  url: string,
  { events = ['CONTACT_CREATED'], key = stack.tenant.keys.apiUser } = {},
): Promise<CreatedWebhook> {
  return partIn(await stack.api().post('/v1/webhooks', { url, events }, { key }), 'webhook');
}
