import { type DeliveryId, parseId } from '@posthorn/kernel';
import type { FoundWebhook, WebhookSearchStore } from '@posthorn/database';
import { orNotFound } from '../pages/refusals.ts';

/** The messages of 404s. */
export const NO_WEBHOOK = 'There is no webhook with this id';
export const NO_DELIVERY = 'This webhook has no delivery with this id';

/** Finds webhooks by their ids, in any workspace. */
export class WebhookReader {
  constructor(private readonly search: Pick<WebhookSearchStore, 'find'>) {}

  /** @throws Refusal (404) when there is none */
  async find(text: string): Promise<FoundWebhook> {
    const id = orNotFound(parseId('wh', text), NO_WEBHOOK);
    return orNotFound(await this.search.find(id), NO_WEBHOOK);
  }

  /** Finds a webhook, and parses the id of one of its deliveries. @throws Refusal (404) when there is no such webhook, or the id is malformed */
  async locate(webhookText: string, text: string): Promise<{ webhook: FoundWebhook; id: DeliveryId }> {
    const webhook = await this.find(webhookText);
    return { webhook, id: orNotFound(parseId('dlv', text), NO_DELIVERY) };
  }
}
