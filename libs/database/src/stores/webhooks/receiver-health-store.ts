import { idFromUuid, uuidOf, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import {
  changeAfter,
  POSTHORN,
  type ReceiverChange,
  type ReceiverObservation,
  mergeObservations,
  type WebhookNotice,
} from '@posthorn/domain';
import type pg from 'pg';
import { columnsOf } from '../../sql/binary-array.ts';
import type { Database } from '../../connection/connection.ts';
import { LOCK_RECEIVERS, READ_RECEIVERS } from '../../sql/deliveries.ts';
import { APPLY_RECEIVER_CHANGES, RECEIVER_CHANGE_COLUMNS } from '../../sql/receiver-health.ts';
import { transactOn } from '../../transactions/transaction.ts';
import { type AuditedChange, recordAudit } from '../workspaces/audit-log-store.ts';
import { type Receiver, receiver, type ReceiverRow } from './claimed-delivery.ts';

/** Webhooks locked per transaction; bounds how long others wait for one of them. */
const MAX_WEBHOOKS_PER_GROUP = 100;

/** What a POST showed about the receiver of a webhook. */
export interface ReceiverReport extends ReceiverObservation {
  readonly webhookId: WebhookId;
  readonly workspaceId: WorkspaceId;
  /** The version of the webhook that was posted to: see `Receiver.asOf`. */
  readonly asOf: string;
}

/** A notice to a workspace that results from reports on a webhook. */
export interface NewWebhookNotice {
  readonly workspaceId: WorkspaceId;
  readonly webhookId: WebhookId;
  readonly notice: WebhookNotice;
}

type Reports = readonly ReceiverReport[];

interface WebhookChange extends ReceiverChange {
  readonly webhookId: WebhookId;
  readonly workspaceId: WorkspaceId;
}

/** The health of the receivers of webhooks. It rarely changes; but when a network goes down, it changes for hundreds of them within a second. */
export class ReceiverHealthStore {
  constructor(private readonly database: Database) {}

  /**
   * Applies reports: stores since when receivers have been failing and which are slow, disables those that are gone or have failed for too long, and creates
   * notices for their workspaces. Idempotent. Reports on webhooks that are inactive, or were changed since, are ignored. Webhooks are processed in the order of
   * their ids, a hundred per transaction.
   *
   * @param onNotice called with each notice once it is durable, even if later groups fail
   * @returns the webhooks that somebody else had locked; their reports were not applied, so that nothing has to wait for them
   */
  async applyReports(
    reports: readonly ReceiverReport[],
    onNotice: (newNotice: NewWebhookNotice) => void,
  ): Promise<ReadonlySet<WebhookId>> {
    const lockedElsewhere: WebhookId[] = [];
    for (const group of groupsOf(reports)) {
      const applied = await this.applyGroup(group);
      applied.notices.forEach(onNotice);
      lockedElsewhere.push(...applied.lockedElsewhere);
    }
    return new Set(lockedElsewhere);
  }

  private applyGroup(
    reportsOf: ReadonlyMap<string, Reports>,
  ): Promise<{ notices: NewWebhookNotice[]; lockedElsewhere: WebhookId[] }> {
    return transactOn(this.database, async (client) => {
      const { rows } = await client.query<ReceiverRow>(LOCK_RECEIVERS, [[...reportsOf.keys()]]);
      const now = this.database.clock.now();
      const changes = rows.flatMap((row) => changeOf(receiver(row), reportsOf.get(row.id)!, now) ?? []);
      if (changes.length > 0) await applyChanges(client, changes, now);
      const lockedByUs = new Set(rows.map(({ id }) => id));
      const others = [...reportsOf.keys()].filter((id) => !lockedByUs.has(id));
      return { notices: changes.flatMap(noticesOf), lockedElsewhere: await findLocked(client, others) };
    });
  }
}

/** Which of the webhooks that could not be locked exist; the others were deleted. */
async function findLocked(client: pg.ClientBase, ids: readonly string[]): Promise<WebhookId[]> {
  if (ids.length === 0) return [];
  const { rows } = await client.query<ReceiverRow>(READ_RECEIVERS, [ids]);
  return rows.map(({ id }) => idFromUuid('wh', id));
}

/** The reports by UUID of the webhook, in groups sorted by it, so that two processes that lock groups cannot deadlock. */
function groupsOf(reports: readonly ReceiverReport[]): ReadonlyMap<string, Reports>[] {
  const ofWebhook = Map.groupBy(reports, ({ webhookId }) => uuidOf(webhookId));
  const sorted = [...ofWebhook].sort(([one], [other]) => (one < other ? -1 : 1));
  const groups = Math.ceil(sorted.length / MAX_WEBHOOKS_PER_GROUP);
  return Array.from({ length: groups }, (_, n) => {
    return new Map(sorted.slice(n * MAX_WEBHOOKS_PER_GROUP, (n + 1) * MAX_WEBHOOKS_PER_GROUP));
  });
}

/** The change of a webhook that results from its reports, if any. */
function changeOf(webhook: Receiver, reports: Reports, now: Date): WebhookChange | undefined {
  const current = reports.filter(({ asOf }) => asOf === webhook.asOf);
  if (current.length === 0 || webhook.status !== 'ACTIVE') return undefined;
  const change = changeAfter(webhook.health, mergeObservations(current), now);
  return change && { ...change, webhookId: webhook.id, workspaceId: current[0]!.workspaceId };
}

function noticesOf({ webhookId, workspaceId, notice }: WebhookChange): NewWebhookNotice[] {
  return notice === undefined ? [] : [{ webhookId, workspaceId, notice }];
}

async function applyChanges(
  client: pg.ClientBase,
  changes: readonly WebhookChange[],
  now: Date,
): Promise<void> {
  const rows = changes.map(({ webhookId, workspaceId, health, notice }) => ({
    webhook_id: webhookId,
    workspace_id: workspaceId,
    failing_since: health.failingSince,
    warned_at: health.warnedAt,
    is_slow: health.isSlow,
    notice,
  }));
  await client.query(APPLY_RECEIVER_CHANGES, [now, ...columnsOf(RECEIVER_CHANGE_COLUMNS, rows)]);
  const disabled = changes.flatMap(noticesOf).filter(({ notice }) => notice !== 'FAILING');
  const audited = disabled.map(({ workspaceId, webhookId, notice: reason }): AuditedChange => ({
    workspaceId,
    action: 'webhook.disabled',
    actor: POSTHORN,
    subjectId: webhookId,
    detail: { reason },
  }));
  if (audited.length > 0) await recordAudit(client, now.getTime(), ...audited);
}
