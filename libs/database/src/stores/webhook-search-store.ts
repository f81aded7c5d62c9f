import { idFromUuid, uuidOf, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import {
  type Page,
  pageOf,
  type PageRequest,
  type Webhook,
  webhookLane,
  type WebhookStatus,
} from '@posthorn/domain';
import type { Database } from '../connection.ts';
import type { Webhook as WebhookRow } from '../generated/client.ts';
import { prismaPage } from './prisma-page.ts';
import { webhookOf } from './webhook-store.ts';

/** Which webhooks are asked for; what is absent does not matter. */
export interface WebhookFilter {
  readonly workspaceId?: WorkspaceId | undefined;
  readonly status?: WebhookStatus | undefined;
  /** Only those with nothing but failures of late. */
  readonly isFailing?: boolean;
}

/** A webhook, and how its receiver is doing. */
export interface FoundWebhook extends Webhook {
  /** Since when there were only failures; null: none since the last success. */
  readonly failingSince: Date | null;
  /** Whether its receiver keeps us waiting. */
  readonly isSlow: boolean;
}

/** The webhooks of all workspaces, for those who run the installation: nothing here may be shown to a key. */
export class WebhookSearchStore {
  constructor(private readonly database: Database) {}

  /** A page of the webhooks that match. Indexes: webhooks_by_workspace_idx, or webhooks_pkey, in their order. */
  async list(
    { workspaceId, status, isFailing }: WebhookFilter,
    page: PageRequest<WebhookId>,
  ): Promise<Page<FoundWebhook>> {
    const { from, ...inOrder } = prismaPage(page);
    const rows = await this.database.prisma.webhook.findMany({
      where: {
        ...(workspaceId !== undefined && { workspaceId: uuidOf(workspaceId) }),
        ...(status !== undefined && { status }),
        ...(isFailing && { failingSince: { not: null } }),
        ...from,
      },
      ...inOrder,
    });
    return pageOf(await this.found(rows), page.limit);
  }

  /** The webhook with this id, whichever workspace has it. */
  async find(id: WebhookId): Promise<FoundWebhook | undefined> {
    const row = await this.database.prisma.webhook.findUnique({ where: { id: uuidOf(id) } });
    return row === null ? undefined : (await this.found([row]))[0];
  }

  private async found(rows: readonly WebhookRow[]): Promise<FoundWebhook[]> {
    const lanes = rows.map(({ id }) => webhookLane(idFromUuid('wh', id)));
    const slow = await this.database.prisma.slowLane.findMany({ where: { laneId: { in: lanes } } });
    const slowLanes = new Set(slow.map(({ laneId }) => laneId));
    return rows.map((row, n) => ({
      ...webhookOf(row),
      failingSince: row.failingSince,
      isSlow: slowLanes.has(lanes[n]!),
    }));
  }
}
