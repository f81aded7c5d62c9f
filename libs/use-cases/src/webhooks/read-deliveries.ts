import type { DeliveryId, WebhookId, WorkspaceId } from '@posthorn/kernel';
import type { Page, PageRequest } from '@posthorn/domain';
import type {
  DeliveryFilter,
  DeliveryListStore,
  DeliveryWithAttempts,
  ShownDelivery,
  WebhookStore,
} from '@posthorn/database';

/** Reads the deliveries of webhooks for the API keys of a workspace. */
export class ReadDeliveries {
  constructor(
    private readonly webhooks: Pick<WebhookStore, 'find'>,
    private readonly deliveries: DeliveryListStore,
  ) {}

  /** Whether the workspace has this webhook. */
  async hasWebhook(workspaceId: WorkspaceId, id: WebhookId): Promise<boolean> {
    return (await this.webhooks.find(workspaceId, id)) !== undefined;
  }

  /** A page of the deliveries of a webhook; undefined when the workspace does not have it. */
  async list(
    workspaceId: WorkspaceId,
    webhookId: WebhookId,
    page: PageRequest<DeliveryId>,
    filter: DeliveryFilter,
  ): Promise<Page<ShownDelivery> | undefined> {
    if (!(await this.hasWebhook(workspaceId, webhookId))) return undefined;
    return this.deliveries.list(workspaceId, webhookId, page, filter);
  }

  /** A delivery with its attempts; undefined when this webhook does not have it. */
  async read(
    workspaceId: WorkspaceId,
    webhookId: WebhookId,
    id: DeliveryId,
  ): Promise<DeliveryWithAttempts | undefined> {
    // The deliveries of a deleted webhook are kept for a while.
    if (!(await this.hasWebhook(workspaceId, webhookId))) return undefined;
    return this.deliveries.find(workspaceId, webhookId, id);
  }
}
