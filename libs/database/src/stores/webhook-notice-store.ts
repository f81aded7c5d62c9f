import { idFromUuid, type WebhookId } from '@posthorn/kernel';
import type { WebhookNotice } from '@posthorn/domain';
import type { Database } from '../connection.ts';

/** What the editors of a workspace have still to be told of a webhook. */
export interface OwedWebhookNotice {
  /** A uuid. */
  readonly id: string;
  readonly webhookId: WebhookId;
  readonly notice: WebhookNotice;
  /** Where the webhook leads now; null: it is deleted. */
  readonly url: string | null;
  readonly workspaceName: string;
  /** The addresses of the workspace's editors. */
  readonly editors: readonly string[];
}

/** What happened to webhooks and must still be told by mail. There are few, and they are read now and then. */
export class WebhookNoticeStore {
  constructor(private readonly database: Database) {}

  /**
   * The next ones of all workspaces, in the order of their ids.
   *
   * @param after the last one that was seen; null: from the beginning
   */
  async owed(after: string | null, limit: number): Promise<OwedWebhookNotice[]> {
    const { prisma } = this.database;
    const rows = await prisma.webhookNotice.findMany({
      ...(after !== null && { where: { id: { gt: after } } }),
      orderBy: { id: 'asc' },
      take: limit,
      include: {
        workspace: { include: { memberships: { where: { role: 'EDITOR' }, include: { user: true } } } },
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
      editors: workspace.memberships.map(({ user }) => user.email),
    }));
  }

  /** Its mails are durable: nothing is owed any more. Doing it twice is doing it once. */
  async settle(id: string): Promise<void> {
    await this.database.prisma.webhookNotice.deleteMany({ where: { id } });
  }
}
