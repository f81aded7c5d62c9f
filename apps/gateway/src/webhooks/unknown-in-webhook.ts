import type { Refusal, WebhookId, WorkspaceId } from '@posthorn/kernel';
import type { ReadDeliveries } from '@posthorn/use-cases';
import { unknownId } from '../validation/path-ids.ts';

/** The refusal for the id in a path that is unknown: the webhook's, or that of its child. */
export async function unknownInWebhook(
  deliveries: Pick<ReadDeliveries, 'hasWebhook'>,
  workspaceId: WorkspaceId,
  webhookId: WebhookId,
  name: 'delivery_id' | 'recovery_id',
): Promise<Refusal> {
  return unknownId((await deliveries.hasWebhook(workspaceId, webhookId)) ? name : 'webhook_id');
}
