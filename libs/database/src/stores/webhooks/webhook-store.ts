import { idFromUuid, timeOf, uuidOf, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import {
  type Actor,
  type EventName,
  type JsonObject,
  type Webhook,
  webhookLane,
  type WebhookStatus,
  WORKSPACE_LIMITS,
} from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import type { Webhook as WebhookRow } from '../../generated/client.ts';
import { changeWorkspace, type Transaction } from '../../transactions/transaction.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';

/** A webhook with its token, encrypted, bound to `SEALED_COLUMNS.webhookToken`. */
export interface SealedWebhook extends Webhook {
  readonly sealedToken: Buffer;
  /** Until when deliveries are also signed with the previous token; null: they are not. */
  readonly previousTokenUntil: Date | null;
}

/** A webhook to be created. */
type NewWebhook = Pick<SealedWebhook, 'id' | 'url' | 'events' | 'sealedToken' | 'status'>;

/** The fields of a webhook to be changed. */
export interface WebhookChange extends Partial<
  Pick<SealedWebhook, 'url' | 'events' | 'sealedToken' | 'status'>
> {
  /** The previous token, encrypted, bound to `SEALED_COLUMNS.webhookPreviousToken`; null: it ends at once. */
  readonly previousToken?: { readonly sealed: Buffer; readonly overlapSeconds: number } | null;
}

/** The webhooks of workspaces. Each change is recorded in the audit log, and its paused lane updated, in its transaction. */
export class WebhookStore {
  constructor(private readonly database: Database) {}

  /** All webhooks of a workspace, in no particular order; they are few. */
  async list(workspaceId: WorkspaceId): Promise<Webhook[]> {
    const rows = await this.database.prisma.webhook.findMany({ where: { workspaceId: uuidOf(workspaceId) } });
    return rows.map(webhookOf);
  }

  /** The webhook, if this workspace has it. */
  find(workspaceId: WorkspaceId, id: WebhookId): Promise<SealedWebhook | undefined> {
    return this.findIn(this.database.prisma, workspaceId, id);
  }

  /** Creates a webhook; undefined when the workspace has the maximum. */
  async create(
    workspaceId: WorkspaceId,
    actor: Actor,
    { id, url, events, sealedToken, status }: NewWebhook,
  ): Promise<Webhook | undefined> {
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const count = await transaction.webhook.count({ where: { workspaceId: uuidOf(workspaceId) } });
      if (count >= WORKSPACE_LIMITS.webhooks) return undefined;
      const createdAt = new Date(timeOf(id));
      const row = await transaction.webhook.create({
        data: {
          id: uuidOf(id),
          workspaceId: uuidOf(workspaceId),
          url,
          events: [...events],
          token: new Uint8Array(sealedToken),
          status,
          createdAt,
          updatedAt: createdAt,
        },
      });
      if (status !== 'ACTIVE') await keepLane(transaction, id, status);
      await recordAudit(transaction, this.database.clock.nowMs(), {
        workspaceId,
        action: 'webhook.created',
        actor,
        subjectId: id,
        detail: { url, events, status },
      });
      return webhookOf(row);
    });
  }

  /**
   * Changes a webhook, if this workspace has it.
   *
   * @param decide returns the change, given the current webhook; if it is empty, nothing is written
   * @returns the webhook afterwards
   */
  async change(
    workspaceId: WorkspaceId,
    actor: Actor,
    id: WebhookId,
    decide: (before: SealedWebhook) => WebhookChange,
  ): Promise<SealedWebhook | undefined> {
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      // Posthorn may disable it meanwhile, which takes no lock on the workspace.
      await transaction.$executeRaw`SELECT FROM webhooks WHERE id = ${uuidOf(id)}::uuid FOR NO KEY UPDATE`;
      const before = await this.findIn(transaction, workspaceId, id);
      const change = before && decide(before);
      if (before === undefined || change === undefined || Object.keys(change).length === 0) return before;
      const row = await this.write(transaction, before, change);
      if (change.status !== undefined) await keepLane(transaction, id, change.status);
      if (isAnotherChance(change)) await forgetSlowness(transaction, id);
      await recordAudit(transaction, this.database.clock.nowMs(), {
        workspaceId,
        action: 'webhook.updated',
        actor,
        subjectId: id,
        detail: detailOf(before, change, row),
      });
      return this.sealed(row);
    });
  }

  /** Deletes a webhook, if this workspace has it, and returns it as it was. */
  async delete(workspaceId: WorkspaceId, actor: Actor, id: WebhookId): Promise<SealedWebhook | undefined> {
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const before = await this.findIn(transaction, workspaceId, id);
      if (before === undefined) return undefined;
      await transaction.webhook.delete({ where: { id: uuidOf(id) } });
      await keepLane(transaction, id, 'ACTIVE');
      await forgetSlowness(transaction, id);
      const { url, events } = before;
      await recordAudit(transaction, this.database.clock.nowMs(), {
        workspaceId,
        action: 'webhook.deleted',
        actor,
        subjectId: id,
        detail: { url, events },
      });
      return before;
    });
  }

  private async findIn(
    prisma: Pick<Transaction, 'webhook'>,
    workspaceId: WorkspaceId,
    id: WebhookId,
  ): Promise<SealedWebhook | undefined> {
    const where = { id: uuidOf(id), workspaceId: uuidOf(workspaceId) };
    const row = await prisma.webhook.findFirst({ where });
    return row === null ? undefined : this.sealed(row);
  }

  private sealed(row: WebhookRow): SealedWebhook {
    const { token, previousTokenUntil: until } = row;
    const isOver = until !== null && until <= this.database.clock.now();
    return {
      ...webhookOf(row),
      sealedToken: Buffer.from(token),
      previousTokenUntil: isOver ? null : until,
    };
  }

  private write(transaction: Transaction, before: SealedWebhook, change: WebhookChange): Promise<WebhookRow> {
    const { url, events, status, sealedToken } = change;
    const now = this.database.clock.now();
    return transaction.webhook.update({
      where: { id: uuidOf(before.id) },
      data: {
        ...(url !== undefined && { url }),
        ...(events !== undefined && { events: [...events] }),
        ...(status !== undefined && { status }),
        ...(sealedToken !== undefined && { token: new Uint8Array(sealedToken) }),
        ...previousTokenOf(change, now),
        ...(isAnotherChance(change) && { failingSince: null, warnedAt: null }),
        // Deliveries that failed while its receiver was unavailable are retried by a maintenance job, however many they are.
        ...(status !== undefined &&
          before.status === 'DISABLED' && { putBackBefore: now, putBackSeenTo: null }),
        updatedAt: now,
      },
    });
  }
}

function previousTokenOf({ previousToken: previous }: WebhookChange, now: Date) {
  if (previous === undefined) return {};
  if (previous === null) return { previousToken: null, previousTokenUntil: null };
  return {
    previousToken: new Uint8Array(previous.sealed),
    previousTokenUntil: new Date(now.getTime() + previous.overlapSeconds * 1_000),
  };
}

/** Whether a change makes what is known of the receiver's health obsolete. */
function isAnotherChance({ url, status }: WebhookChange): boolean {
  return url !== undefined || status === 'ACTIVE';
}

async function forgetSlowness(transaction: Transaction, id: WebhookId): Promise<void> {
  await transaction.slowLane.deleteMany({ where: { laneId: webhookLane(id) } });
}

/** A webhook is paused through its lane: its rows are kept, and nobody claims them. */
async function keepLane(transaction: Transaction, id: WebhookId, status: WebhookStatus): Promise<void> {
  const lane = { queue: 'webhook', laneId: webhookLane(id) } as const;
  if (status === 'ACTIVE') {
    await transaction.pausedLane.deleteMany({ where: lane });
    return;
  }
  const reason = `the webhook is ${status}`;
  await transaction.pausedLane.upsert({
    where: { queue_laneId: lane },
    create: { ...lane, reason },
    update: { reason },
  });
}

/** The audit log's details of a change; of the token only that it was changed, and until when the previous one signs too. */
function detailOf(
  before: Webhook,
  { url, events, status, sealedToken, previousToken }: WebhookChange,
  { previousTokenUntil }: WebhookRow,
): JsonObject {
  return {
    ...(url !== undefined && { url: { from: before.url, to: url } }),
    ...(events !== undefined && { events: { from: before.events, to: events } }),
    ...(status !== undefined && { status: { from: before.status, to: status } }),
    ...(sealedToken !== undefined && { token: 'changed' }),
    ...(previousToken !== undefined && { previousTokenUntil: previousTokenUntil?.toISOString() ?? null }),
  };
}

/** Converts a row to a webhook. */
export function webhookOf(row: WebhookRow): Webhook {
  const { url, status, createdAt, updatedAt } = row;
  return {
    id: idFromUuid('wh', row.id),
    workspaceId: idFromUuid('wrk', row.workspaceId),
    events: row.events as EventName[],
    url,
    status,
    createdAt,
    updatedAt,
  };
}
