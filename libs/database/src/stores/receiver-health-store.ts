import { idFromUuid, uuidOf, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import {
  learnFrom,
  POSTHORN,
  type ReceiverChange,
  type ReceiverLesson,
  sumOfLessons,
  type WebhookNotice,
} from '@posthorn/domain';
import type pg from 'pg';
import { columnsOf } from '../binary-array.ts';
import type { Database } from '../connection.ts';
import { LOCK_RECEIVERS, READ_RECEIVERS } from '../sql/deliveries.ts';
import {
  CARRY_OUT_JUDGEMENTS,
  HEALTH_COLUMNS,
  JUDGEMENT_COLUMNS,
  KEEP_HEALTH,
} from '../sql/receiver-health.ts';
import { transactOn } from '../transaction.ts';
import { type AuditedChange, recordAudit } from './audit-log-store.ts';
import { type Receiver, receiver, type ReceiverRow } from './claimed-delivery.ts';

/** How many are locked together: whoever wants one of them waits for these at most. */
const MAX_WEBHOOKS_PER_GROUP = 100;

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

type Reports = readonly ReceiverReport[];

interface LearntChange extends ReceiverChange {
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
   * @param tell is given each judgement once it is durable, also when later ones fail
   * @returns the webhooks that somebody else had locked, of which nothing was learnt: none of them keeps the others waiting
   */
  async learn(
    reports: readonly ReceiverReport[],
    tell: (judgement: Judgement) => void,
  ): Promise<ReadonlySet<WebhookId>> {
    const held: WebhookId[] = [];
    for (const group of groupsOf(reports)) {
      const learnt = await this.learnTogether(group);
      learnt.judgements.forEach(tell);
      held.push(...learnt.held);
    }
    return new Set(held);
  }

  private learnTogether(
    reportsOf: ReadonlyMap<string, Reports>,
  ): Promise<{ judgements: Judgement[]; held: WebhookId[] }> {
    return transactOn(this.database, async (client) => {
      const { rows } = await client.query<ReceiverRow>(LOCK_RECEIVERS, [[...reportsOf.keys()]]);
      const now = this.database.clock.now();
      const changes = rows.flatMap((row) => changeOf(receiver(row), reportsOf.get(row.id)!, now) ?? []);
      if (changes.length > 0) await keepHealth(client, changes);
      const judgements = changes.flatMap(judgementOf);
      if (judgements.length > 0) await carryOut(client, judgements, now);
      const locked = new Set(rows.map(({ id }) => id));
      const others = [...reportsOf.keys()].filter((id) => !locked.has(id));
      return { judgements, held: await findHeld(client, others) };
    });
  }
}

/** Which of those that could not be locked are there; the others were deleted. */
async function findHeld(client: pg.ClientBase, ids: readonly string[]): Promise<WebhookId[]> {
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
function changeOf(webhook: Receiver, reports: Reports, now: Date): LearntChange | undefined {
  const current = reports.filter(({ asOf }) => asOf === webhook.asOf);
  if (current.length === 0 || webhook.status !== 'ACTIVE') return undefined;
  const change = learnFrom(webhook.health, sumOfLessons(current), now);
  return change && { ...change, webhookId: webhook.id, workspaceId: current[0]!.workspaceId };
}

function judgementOf({ webhookId, workspaceId, notice }: LearntChange): Judgement[] {
  return notice === undefined ? [] : [{ webhookId, workspaceId, notice }];
}

async function keepHealth(client: pg.ClientBase, changes: readonly LearntChange[]): Promise<void> {
  const rows = changes.map(({ webhookId, health: { failingSince, warnedAt, isSlow } }) => ({
    id: webhookId,
    failing_since: failingSince,
    warned_at: warnedAt,
    is_slow: isSlow,
  }));
  await client.query(KEEP_HEALTH, columnsOf(HEALTH_COLUMNS, rows));
}

async function carryOut(client: pg.ClientBase, judgements: readonly Judgement[], now: Date): Promise<void> {
  const rows = judgements.map(({ webhookId, workspaceId, notice }) => ({
    webhook_id: webhookId,
    workspace_id: workspaceId,
    notice,
  }));
  await client.query(CARRY_OUT_JUDGEMENTS, [now, ...columnsOf(JUDGEMENT_COLUMNS, rows)]);
  const disabled = judgements.filter(({ notice }) => notice !== 'FAILING');
  const audited = disabled.map(({ workspaceId, webhookId, notice: reason }): AuditedChange => ({
    workspaceId,
    action: 'webhook.disabled',
    actor: POSTHORN,
    subjectId: webhookId,
    detail: { reason },
  }));
  if (audited.length > 0) await recordAudit(client, now.getTime(), ...audited);
}
