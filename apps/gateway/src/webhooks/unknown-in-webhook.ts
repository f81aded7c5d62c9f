import type { Refusal, WebhookId, WorkspaceId } from '@posthorn/kernel';
import type { ReadDeliveries } from '@posthorn/use-cases';
import { unknownId } from '../validation/path-ids.ts';

/** Says which of the two ids in a path is unknown: that of the webhook, or the one of what it was to have. */
export async function unknownInWebhook(
  deliveries: Pick<ReadDeliveries, 'hasWebhook'>,
  workspaceId: WorkspaceId,
  webhookId: WebhookId,
  name: 'delivery_id' | 'recovery_id',
): Promise<Refusal> {
  return unknownId((await deliveries.hasWebhook(workspaceId, webhookId)) ? name : 'webhook_id');
}
