import { idFromUuid, uuidOf, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import {
  type Page,
  pageOf,
  type PageRequest,
  type Webhook,
  webhookLane,
  type WebhookStatus,
} from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import type { Webhook as WebhookRow } from '../../generated/client.ts';
import { prismaPage } from '../prisma-page.ts';
import { webhookOf } from './webhook-store.ts';

/** Filters for webhooks; absent ones match all. */
export interface WebhookFilter {
  readonly workspaceId?: WorkspaceId | undefined;
  readonly status?: WebhookStatus | undefined;
  /** Only those that have recently had nothing but failures. */
  readonly isFailing?: boolean;
}

/** A webhook, and the health of its receiver. */
export interface FoundWebhook extends Webhook {
  /** Since when there were only failures; null: none since the last success. */
  readonly failingSince: Date | null;
  /** Whether its receiver is slow. */
  readonly isSlow: boolean;
}

/** The webhooks of all workspaces, for operators: must not be exposed to API keys. */
export class WebhookSearchStore {
  constructor(private readonly database: Database) {}

  /** A page of the matching webhooks. Index: webhooks_by_workspace_idx; a workspace has few enough to sort. For all workspaces: webhooks_pkey, in its order. */
  async list(
    page: PageRequest<WebhookId>,
    { workspaceId, status, isFailing }: WebhookFilter,
  ): Promise<Page<FoundWebhook>> {
    const where = {
      ...(workspaceId !== undefined && { workspaceId: uuidOf(workspaceId) }),
      ...(status !== undefined && { status }),
      ...(isFailing && { failingSince: { not: null } }),
    };
    const rows = await this.database.prisma.webhook.findMany(prismaPage(page, where));
    return pageOf(await this.found(rows), page.limit);
  }

  /** The webhook with this id, of whichever workspace. */
  async find(id: WebhookId): Promise<FoundWebhook | undefined> {
    const row = await this.database.prisma.webhook.findFirst({ where: { id: uuidOf(id) } });
    return row === null ? undefined : (await this.found([row]))[0];
  }

  /** Those of these webhooks that exist. */
  async findMany(ids: readonly WebhookId[]): Promise<FoundWebhook[]> {
    if (ids.length === 0) return [];
    return this.found(
      await this.database.prisma.webhook.findMany({ where: { id: { in: ids.map(uuidOf) } } }),
    );
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
