import { idFromUuid, type WebhookId } from '@posthorn/kernel';
import type { WebhookNotice } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import { addressed, ADDRESSED_WORKSPACE, noticesAfter, type PendingNotice } from '../pending-notice.ts';

/** A notice about a webhook that the editors of its workspace have not been sent yet. */
export interface PendingWebhookNotice extends PendingNotice {
  readonly webhookId: WebhookId;
  readonly notice: WebhookNotice;
  /** The current URL of the webhook; null: it was deleted. */
  readonly url: string | null;
}

/** The notices about webhooks that still have to be mailed. They are few, and read now and then. */
export class WebhookNoticeStore {
  constructor(private readonly database: Database) {}

  /**
   * The next notices of all workspaces, ordered by id.
   *
   * @param after the last one that was read; null: from the beginning
   */
  async pending(after: string | null, limit: number): Promise<PendingWebhookNotice[]> {
    const { prisma } = this.database;
    const rows = await prisma.webhookNotice.findMany({
      ...noticesAfter(after, limit),
      select: {
        id: true,
        webhookId: true,
        kind: true,
        workspace: { select: ADDRESSED_WORKSPACE },
      },
    });
    const webhooks = await prisma.webhook.findMany({
      where: { id: { in: rows.map(({ webhookId }) => webhookId) } },
      select: { id: true, url: true },
    });
    return rows.map(({ id, webhookId, kind, workspace }) => ({
      ...addressed(id, workspace),
      webhookId: idFromUuid('wh', webhookId),
      notice: kind,
      url: webhooks.find((webhook) => webhook.id === webhookId)?.url ?? null,
    }));
  }

  /** Settles a notice once its mails are durable; idempotent. */
  async settle(id: string): Promise<void> {
    await this.database.prisma.webhookNotice.deleteMany({ where: { id } });
  }
}
