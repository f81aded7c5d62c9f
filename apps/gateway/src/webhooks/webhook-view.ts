import type { Webhook } from '@posthorn/domain';
import type { WebhookWithToken } from '@posthorn/use-cases';
import type { ListedWebhook, Webhook as ShownWebhook } from './webhook.answers.ts';

/** A webhook as a list shows it (F7). */
export function listedWebhookView({ id, url, events, status, createdAt }: Webhook): ListedWebhook {
  return { id, url, events, status, createdAt };
}

/** A webhook as the interface shows it (F7). */
export function webhookView(webhook: WebhookWithToken): ShownWebhook {
  return { ...listedWebhookView(webhook), token: webhook.token };
}
