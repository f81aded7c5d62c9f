import { uuidOf, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import {
  learnFrom,
  POSTHORN,
  type ReceiverChange,
  type ReceiverLesson,
  sumOfLessons,
  webhookLane,
  type WebhookNotice,
} from '@posthorn/domain';
import type { Database } from '../connection.ts';
import { LOCK_RECEIVERS } from '../sql/deliveries.ts';
import { transact, type Transaction } from '../transaction.ts';
import { recordAudit } from './audit-log-store.ts';
import { type Receiver, receiver, type ReceiverRow } from './claimed-delivery.ts';
import { keepLane } from './webhook-store.ts';

/** What a POST showed of a webhook's receiver. */
export interface ReceiverReport extends ReceiverLesson {
  readonly webhookId: WebhookId;
  readonly workspaceId: WorkspaceId;
  /** Which state of the webhook was posted to: see `Receiver.asOf`. */
  readonly asOf: string;
}

/** What a workspace is told of a webhook because of a report. */
export interface Judgement {
  readonly workspaceId: WorkspaceId;
  readonly webhookId: WebhookId;
  readonly notice: WebhookNotice;
}

/** What is known of the receivers of webhooks. It seldom changes, so that this is no hot path. */
export class ReceiverHealthStore {
  constructor(private readonly database: Database) {}

  /**
   * Takes in what POSTs have shown: keeps since when receivers fail and which are slow, disables those that are gone or have failed for too
   * long, and notes what their workspaces are to be told. Twice is once. What was learnt of a webhook that has been changed
   * since, or is not active, says nothing about it.
   */
  async learn(reports: readonly ReceiverReport[]): Promise<Judgement[]> {
    if (reports.length === 0) return [];
    const ofWebhook = Map.groupBy(reports, ({ webhookId }) => webhookId);
    return transact(this.database, async (transaction) => {
      const rows = await transaction.$queryRawUnsafe<ReceiverRow[]>(
        LOCK_RECEIVERS,
        [...ofWebhook.keys()].map(uuidOf),
      );
      const judgements: (Judgement | undefined)[] = [];
      for (const webhook of rows.map(receiver))
        judgements.push(await this.judge(transaction, webhook, ofWebhook.get(webhook.id)!));
      return judgements.filter((judgement) => judgement !== undefined);
    });
  }

  private async judge(
    transaction: Transaction,
    webhook: Receiver,
    reports: readonly ReceiverReport[],
  ): Promise<Judgement | undefined> {
    const current = reports.filter(({ asOf }) => asOf === webhook.asOf);
    if (current.length === 0 || webhook.status !== 'ACTIVE') return undefined;
    const change = learnFrom(webhook.health, sumOfLessons(current), this.database.clock.now());
    if (change === undefined) return undefined;
    await this.keepHealth(transaction, webhook, change);
    const { notice } = change;
    if (notice === undefined) return undefined;
    const judgement = { webhookId: webhook.id, workspaceId: current[0]!.workspaceId, notice };
    await this.carryOut(transaction, judgement);
    return judgement;
  }

  private async keepHealth(
    transaction: Transaction,
    { id }: Receiver,
    { health: { failingSince, warnedAt, isSlow } }: ReceiverChange,
  ): Promise<void> {
    await transaction.webhook.update({ where: { id: uuidOf(id) }, data: { failingSince, warnedAt } });
    const laneId = webhookLane(id);
    if (isSlow) await transaction.slowLane.createMany({ data: [{ laneId }], skipDuplicates: true });
    else await transaction.slowLane.deleteMany({ where: { laneId } });
  }

  private async carryOut(
    transaction: Transaction,
    { webhookId, workspaceId, notice }: Judgement,
  ): Promise<void> {
    const ids = { webhookId: uuidOf(webhookId), workspaceId: uuidOf(workspaceId) };
    await transaction.webhookNotice.create({ data: { ...ids, kind: notice } });
    if (notice === 'FAILING') return;
    const now = this.database.clock.now();
    const data = { status: 'DISABLED', updatedAt: now } as const;
    await transaction.webhook.update({ where: { id: uuidOf(webhookId) }, data });
    await keepLane(transaction, webhookId, 'DISABLED');
    await recordAudit(transaction, now.getTime(), {
      ...{ workspaceId, action: 'webhook.disabled', actor: POSTHORN, subjectId: webhookId },
      detail: { reason: notice },
    });
  }
}
