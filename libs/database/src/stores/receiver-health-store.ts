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
import { columnsOf } from '../binary-array.ts';
import type { Database } from '../connection.ts';
import { LOCK_RECEIVERS, READ_RECEIVERS } from '../sql/deliveries.ts';
import { APPLY_NOTICES, HEALTH_COLUMNS, NOTICE_COLUMNS, UPDATE_HEALTH } from '../sql/receiver-health.ts';
import { transactOn } from '../transaction.ts';
import { type AuditedChange, recordAudit } from './audit-log-store.ts';
import { type Receiver, receiver, type ReceiverRow } from './claimed-delivery.ts';

/** How many are locked together: whoever wants one of them waits for these at most. */
const MAX_WEBHOOKS_PER_GROUP = 100;

/** What a POST showed of a webhook's receiver. */
export interface ReceiverReport extends ReceiverObservation {
  readonly webhookId: WebhookId;
  readonly workspaceId: WorkspaceId;
  /** Which state of the webhook was posted to: see `Receiver.asOf`. */
  readonly asOf: string;
}

/** What a workspace is told of a webhook because of a report. */
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

/** What is known of the receivers of webhooks. It seldom changes; when a network is away, it changes for hundreds of them in a second. */
export class ReceiverHealthStore {
  constructor(private readonly database: Database) {}

  /**
   * Takes in what POSTs have shown: keeps since when receivers fail and which are slow, disables those that are gone or have failed for too
   * long, and notes what their workspaces are to be told. Doing it twice is doing it once. What was learnt of a webhook that was changed
   * since, or is not active, is ignored. Webhooks are taken in the order of their ids, a hundred in a transaction.
   *
   * @param onNotice is given each judgement once it is durable, also when later ones fail
   * @returns the webhooks that somebody else had locked, of which nothing was learnt: none of them keeps the others waiting
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
      if (changes.length > 0) await updateHealth(client, changes);
      const notices = changes.flatMap(noticesOf);
      if (notices.length > 0) await applyNotices(client, notices, now);
      const lockedByUs = new Set(rows.map(({ id }) => id));
      const others = [...reportsOf.keys()].filter((id) => !lockedByUs.has(id));
      return { notices, lockedElsewhere: await findLocked(client, others) };
    });
  }
}

/** Which of those that could not be locked are there; the others were deleted. */
async function findLocked(client: pg.ClientBase, ids: readonly string[]): Promise<WebhookId[]> {
  if (ids.length === 0) return [];
  const { rows } = await client.query<ReceiverRow>(READ_RECEIVERS, [ids]);
  return rows.map(({ id }) => idFromUuid('wh', id));
}

/** The reports of each webhook by its native key, in the order of the keys, so that two processes that lock groups cannot deadlock. */
function groupsOf(reports: readonly ReceiverReport[]): ReadonlyMap<string, Reports>[] {
  const ofWebhook = Map.groupBy(reports, ({ webhookId }) => uuidOf(webhookId));
  const sorted = [...ofWebhook].sort(([one], [other]) => (one < other ? -1 : 1));
  const groups = Math.ceil(sorted.length / MAX_WEBHOOKS_PER_GROUP);
  return Array.from({ length: groups }, (_, n) => {
    return new Map(sorted.slice(n * MAX_WEBHOOKS_PER_GROUP, (n + 1) * MAX_WEBHOOKS_PER_GROUP));
  });
}

/** What becomes of a webhook by reports, if anything. */
function changeOf(webhook: Receiver, reports: Reports, now: Date): WebhookChange | undefined {
  const current = reports.filter(({ asOf }) => asOf === webhook.asOf);
  if (current.length === 0 || webhook.status !== 'ACTIVE') return undefined;
  const change = changeAfter(webhook.health, mergeObservations(current), now);
  return change && { ...change, webhookId: webhook.id, workspaceId: current[0]!.workspaceId };
}

function noticesOf({ webhookId, workspaceId, notice }: WebhookChange): NewWebhookNotice[] {
  return notice === undefined ? [] : [{ webhookId, workspaceId, notice }];
}

async function updateHealth(client: pg.ClientBase, changes: readonly WebhookChange[]): Promise<void> {
  const rows = changes.map(({ webhookId, health: { failingSince, warnedAt, isSlow } }) => ({
    id: webhookId,
    failing_since: failingSince,
    warned_at: warnedAt,
    is_slow: isSlow,
  }));
  await client.query(UPDATE_HEALTH, columnsOf(HEALTH_COLUMNS, rows));
}

async function applyNotices(
  client: pg.ClientBase,
  notices: readonly NewWebhookNotice[],
  now: Date,
): Promise<void> {
  const rows = notices.map(({ webhookId, workspaceId, notice }) => ({
    webhook_id: webhookId,
    workspace_id: workspaceId,
    notice,
  }));
  await client.query(APPLY_NOTICES, [now, ...columnsOf(NOTICE_COLUMNS, rows)]);
  const disabled = notices.filter(({ notice }) => notice !== 'FAILING');
  const audited = disabled.map(({ workspaceId, webhookId, notice: reason }): AuditedChange => ({
    workspaceId,
    action: 'webhook.disabled',
    actor: POSTHORN,
    subjectId: webhookId,
    detail: { reason },
  }));
  if (audited.length > 0) await recordAudit(client, now.getTime(), ...audited);
}
