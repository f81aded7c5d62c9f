import type { Webhook } from '@posthorn/domain';
import type { WebhookWithToken } from '@posthorn/use-cases';
import type { ListedWebhook, Webhook as ShownWebhook } from './webhook.answers.ts';

/** The API representation of a webhook in a list (F7). */
export function listedWebhookView({ id, url, events, status, createdAt }: Webhook): ListedWebhook {
  return { id, url, events, status, createdAt };
}

/** The API representation of a webhook (F7). */
export function webhookView(webhook: WebhookWithToken): ShownWebhook {
  return { ...listedWebhookView(webhook), token: webhook.token };
}
