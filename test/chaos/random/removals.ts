import { setTimeout as sleep } from 'node:timers/promises';
import { RetentionStore, UpkeepStore, WorkspaceStore } from '@posthorn/database';
import { EXHAUSTED_KEPT_DAYS } from '@posthorn/domain';
import { newId, newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { RemoveOld, retainWorkspace } from '@posthorn/use-cases';
import { addDelivery, makeMonthOf } from '../../e2e/deliveries.ts';
import { type Tenant, TESTS } from '../../e2e/stack.ts';
import { DAY_MS } from '../../e2e/times.ts';
import { checkRemovals } from './check-removals.ts';
import type { Cluster } from './cluster.ts';
import { insist } from './insist.ts';
import type { Random } from './random.ts';

const EMAILS = 20;
/** The retention of all workspaces that have none of their own. */
const COMMON = { contentDays: 30, metadataDays: 400, eventDays: 90 };
/** The retention of emails of the workspace that keeps them for a shorter time. */
const OWN_DAYS = 1;

/** Old data, which is removed in groups and by the month while everything fails. */
export class Removals {
  private readonly workspaceId: WorkspaceId;
  /** Of a webhook that was deleted long ago. */
  private readonly webhookId = newId('wh', 0);
  /** Emails that are past their retention, and emails that are not. */
  private readonly removed: string[] = [];
  private readonly kept: string[] = [];

  constructor(
    private readonly cluster: Cluster,
    /** A workspace that nobody else uses. */
    { workspaceId }: Tenant,
    private readonly random: Random,
  ) {
    this.workspaceId = workspaceId;
  }

  async run(isOver: () => boolean): Promise<void> {
    const { random } = this;
    const store = new WorkspaceStore(this.cluster.stack.database);
    await insist(() => retainWorkspace(store, this.workspaceId, TESTS, { metadataDays: OWN_DAYS }));
    for (; !isOver(); await sleep(random.between(200, 3_000))) {
      this.removed.push(...(await this.add(random.between(450, 1_200))));
      this.removed.push(...(await this.add(OWN_DAYS + random.between(1, 20))));
      this.kept.push(...(await this.add(OWN_DAYS / 2)));
      await insist(() => this.addEvent(random.between(130, 400)));
      await insist(() => this.dropMonths());
    }
  }

  /** What was not removed, and what should not have been, in words. */
  async leftovers(): Promise<string[]> {
    await this.dropMonths();
    await this.removeRound();
    const events = 'SELECT count(*)::int FROM events WHERE workspace_id = $1';
    return checkRemovals({
      removed: this.removed,
      kept: this.kept,
      emails: await this.emails(),
      events: await this.cluster.stack.count(events, [uuidOf(this.workspaceId)]),
    });
  }

  /** Adds emails that were sent some days ago. @returns their ids */
  private async add(daysAgo: number): Promise<string[]> {
    const { stack } = this.cluster;
    const at = new Date(Date.now() - daysAgo * DAY_MS);
    const ids = Array.from({ length: EMAILS }, () => newUuid(at.getTime()));
    await insist(async () => {
      await makeMonthOf(stack, at, ['emails', 'email_contents', 'email_events', 'email_engagements']);
      await stack.database.pool.query(
        `WITH email AS (
           INSERT INTO emails (id, workspace_id, type, status, from_address, to_address, subject, message_id, track_clicks, track_opens,
                               accepted_at, sent_at, idempotency_keys)
           SELECT id, $2, 'raw', 'SENT', 'a@example.com', 'b@example.net', 'x', 'old@example.com', false, false, $3, $3, '{}'
           FROM   unnest($1::uuid[]) AS id
           ON CONFLICT DO NOTHING RETURNING id
         )
         INSERT INTO email_contents (email_id, html) SELECT id, '<p>x</p>' FROM email`,
        [ids, uuidOf(this.workspaceId), at],
      );
    });
    return ids;
  }

  private async addEvent(daysAgo: number): Promise<void> {
    const atMs = Date.now() - daysAgo * DAY_MS;
    const wanted = { status: 'SUCCEEDED', atMs } as const;
    await addDelivery(this.cluster.stack, this.workspaceId, this.webhookId, wanted);
  }

  /** What the scheduler does once an hour. */
  private async dropMonths(): Promise<void> {
    const { database } = this.cluster.stack;
    await new RemoveOld(new RetentionStore(database), COMMON).dropMonths();
    const upkeep = new UpkeepStore(database);
    const { eventDays } = COMMON;
    while ((await upkeep.dropOldEvents(eventDays, EXHAUSTED_KEPT_DAYS, 2 * eventDays)) > 0);
    await this.startRound();
  }

  /** What the scheduler does once a day. */
  private async startRound(): Promise<void> {
    await this.cluster.stack.database.pool.query(
      `UPDATE retention_rounds SET next_at = now(), seen_to = '00000000-0000-0000-0000-000000000000' WHERE workspace_id = $1`,
      [uuidOf(this.workspaceId)],
    );
  }

  private async removeRound(): Promise<void> {
    const remover = new RemoveOld(new RetentionStore(this.cluster.stack.database), COMMON);
    await remover.removeWithin(60_000);
  }

  private async emails(): Promise<string[]> {
    const sql = 'SELECT id FROM emails WHERE workspace_id = $1';
    const { rows } = await this.cluster.stack.database.pool.query<{ id: string }>(sql, [
      uuidOf(this.workspaceId),
    ]);
    return rows.map(({ id }) => id);
  }
}
