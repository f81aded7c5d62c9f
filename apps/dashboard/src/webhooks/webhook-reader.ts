import { type DeliveryId, parseId, Refusal } from '@posthorn/kernel';
import type { FoundWebhook, WebhookSearchStore } from '@posthorn/database';

/** Finds webhooks by their ids alone, in whichever workspace they are. */
export class WebhookReader {
  constructor(private readonly search: Pick<WebhookSearchStore, 'find'>) {}

  /** @throws Refusal (404) when there is none */
  async find(text: string): Promise<FoundWebhook> {
    const id = parseId('wh', text);
    const webhook = id && (await this.search.find(id));
    if (webhook === undefined) throw noSuchWebhook();
    return webhook;
  }

  /** The webhook of an address, and the id of a delivery in it. @throws Refusal (404) when there is none, or that is no id */
  async locate(webhookText: string, text: string): Promise<{ webhook: FoundWebhook; id: DeliveryId }> {
    const webhook = await this.find(webhookText);
    const id = parseId('dlv', text);
    if (id === undefined) throw noSuchDelivery();
    return { webhook, id };
  }
}

/** What an address is answered whose webhook is not there. */
export function noSuchWebhook(): Refusal {
  return new Refusal(404, 'There is no webhook with this id');
}

/** The same for a delivery. */
export function noSuchDelivery(): Refusal {
  return new Refusal(404, 'This webhook has no delivery with this id');
}
