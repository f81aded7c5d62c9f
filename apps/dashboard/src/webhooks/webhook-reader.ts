import { type DeliveryId, parseId } from '@posthorn/kernel';
import type { FoundWebhook, WebhookSearchStore } from '@posthorn/database';
import { thatIsThere } from '../pages/that-is-there.ts';

/** What an address is answered whose webhook is not there. */
export const NO_WEBHOOK = 'There is no webhook with this id';
/** The same for a delivery. */
export const NO_DELIVERY = 'This webhook has no delivery with this id';

/** Finds webhooks by their ids alone, in whichever workspace they are. */
export class WebhookReader {
  constructor(private readonly search: Pick<WebhookSearchStore, 'find'>) {}

  /** @throws Refusal (404) when there is none */
  async find(text: string): Promise<FoundWebhook> {
    const id = thatIsThere(parseId('wh', text), NO_WEBHOOK);
    return thatIsThere(await this.search.find(id), NO_WEBHOOK);
  }

  /** The webhook of an address, and the id of a delivery in it. @throws Refusal (404) when there is none, or that is no id */
  async locate(webhookText: string, text: string): Promise<{ webhook: FoundWebhook; id: DeliveryId }> {
    const webhook = await this.find(webhookText);
    return { webhook, id: thatIsThere(parseId('dlv', text), NO_DELIVERY) };
  }
}
