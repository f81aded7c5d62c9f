import { idFromUuid, type WebhookId } from '@posthorn/kernel';
import type { WebhookNotice } from '@posthorn/domain';
import type { Database } from '../connection.ts';
import { EDITORS, editorsOf } from './editors.ts';

/** A notice about a webhook that the editors of its workspace have not been sent yet. */
export interface PendingWebhookNotice {
  /** A uuid. */
  readonly id: string;
  readonly webhookId: WebhookId;
  readonly notice: WebhookNotice;
  /** The current URL of the webhook; null: it was deleted. */
  readonly url: string | null;
  readonly workspaceName: string;
  /** The addresses of the workspace's editors. */
  readonly editors: readonly string[];
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
      ...(after !== null && { where: { id: { gt: after } } }),
      orderBy: { id: 'asc' },
      take: limit,
      select: {
        id: true,
        webhookId: true,
        kind: true,
        workspace: { select: { name: true, ...EDITORS } },
      },
    });
    const webhooks = await prisma.webhook.findMany({
      where: { id: { in: rows.map(({ webhookId }) => webhookId) } },
      select: { id: true, url: true },
    });
    return rows.map(({ id, webhookId, kind, workspace }) => ({
      id,
      webhookId: idFromUuid('wh', webhookId),
      notice: kind,
      workspaceName: workspace.name,
      url: webhooks.find((webhook) => webhook.id === webhookId)?.url ?? null,
      editors: editorsOf(workspace),
    }));
  }

  /** Settles a notice once its mails are durable; idempotent. */
  async settle(id: string): Promise<void> {
    await this.database.prisma.webhookNotice.deleteMany({ where: { id } });
  }
}
