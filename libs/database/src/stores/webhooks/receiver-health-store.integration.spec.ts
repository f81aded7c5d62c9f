import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { idFromUuid, newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type ReceiverObservation, webhookLane } from '@posthorn/domain';
import pg from 'pg';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { type NewWebhookNotice, ReceiverHealthStore, type ReceiverReport } from './receiver-health-store.ts';

const WEBHOOKS = 250;
/** BEGIN, the locks, the changes, the audit log, COMMIT. */
const STATEMENTS_PER_GROUP = 5;
const GROUPS = 3;

const stores = await openTestStores(4);
const health = new ReceiverHealthStore(stores.database);
let acme: WorkspaceId;

/** The webhooks of the workspace, in order. */
let uuids: string[];

beforeEach(async () => {
  acme = await stores.openWorkspace();
  uuids = Array.from({ length: WEBHOOKS }, () => newUuid(Date.now())).sort();
  await stores.ask(
    `INSERT INTO webhooks (id, workspace_id, url, events, token)
     SELECT id, $2, 'https://example.com', '{CONTACT_CREATED}', '' FROM unnest($1::uuid[]) id`,
    [uuids, uuidOf(acme)],
  );
});

/** A POST to each webhook, in no order. */
async function reports(effect: ReceiverObservation['effect'], isSlow = false): Promise<ReceiverReport[]> {
  const rows = await stores.ask<{ id: string; asOf: string }>(
    `SELECT id, updated_at::text AS "asOf" FROM webhooks WHERE workspace_id = $1 ORDER BY md5(id::text)`,
    [uuidOf(acme)],
  );
  return rows.map(({ id, asOf }) => ({
    webhookId: idFromUuid('wh', id),
    workspaceId: acme,
    asOf,
    effect,
    isSlow,
  }));
}

async function applyReports(what: readonly ReceiverReport[]): Promise<NewWebhookNotice[]> {
  const told: NewWebhookNotice[] = [];
  await health.applyReports(what, (newNotice) => told.push(newNotice));
  return told;
}

/** How many webhooks of the workspace match a condition. */
const countWhere = (condition: string) =>
  stores.count('webhooks', `workspace_id = $1 AND ${condition}`, [uuidOf(acme)]);
const lanes = () => uuids.map((id) => webhookLane(idFromUuid('wh', id)));
const countSlow = () => stores.count('slow_lanes', 'lane_id = ANY ($1)', [lanes()]);
const countHeld = () => stores.count('paused_lanes', `queue = 'webhook' AND lane_id = ANY ($1)`, [lanes()]);
const countAudited = () =>
  stores.count('audit_log', `workspace_id = $1 AND action = 'webhook.disabled'`, [uuidOf(acme)]);

async function countStatements(work: () => Promise<unknown>): Promise<number> {
  const query = jest.spyOn(pg.Client.prototype, 'query');
  try {
    await work();
    return query.mock.calls.length;
  } finally {
    query.mockRestore();
  }
}

describe('Observing hundreds of receivers', () => {
  it('takes a fixed number of statements for a group of webhooks, whatever is observed', async () => {
    const [failing, well, gone] = await Promise.all([
      reports('failed', true),
      reports('succeeded'),
      reports('gone'),
    ]);
    expect(await countStatements(() => applyReports(failing))).toBeLessThanOrEqual(
      GROUPS * STATEMENTS_PER_GROUP,
    );
    expect([await countWhere('failing_since IS NOT NULL'), await countSlow()]).toEqual([WEBHOOKS, WEBHOOKS]);
    expect(await countStatements(() => applyReports(well))).toBeLessThanOrEqual(
      GROUPS * STATEMENTS_PER_GROUP,
    );
    expect([await countWhere('failing_since IS NOT NULL'), await countSlow()]).toEqual([0, 0]);
    expect(await countStatements(() => applyReports(gone))).toBeLessThanOrEqual(
      GROUPS * STATEMENTS_PER_GROUP,
    );
    expect(await countWhere(`status = 'DISABLED'`)).toBe(WEBHOOKS);
    expect([await countHeld(), await countAudited()]).toEqual([WEBHOOKS, WEBHOOKS]);
  });

  it('updates each webhook by its own observations', async () => {
    const of = (n: number): string => uuids[n]!;
    const failingFor = (id: string, days: number, warnedDaysAgo: number | null) =>
      stores.ask(
        `UPDATE webhooks SET failing_since = now() - make_interval(days => $2), warned_at = now() - make_interval(days => $3) WHERE id = $1`,
        [id, days, warnedDaysAgo],
      );
    await failingFor(of(1), 4, null);
    await failingFor(of(2), 6, 2);
    await failingFor(of(3), 6, 2);
    await stores.ask(`UPDATE webhooks SET status = 'PAUSED' WHERE id = $1`, [of(4)]);
    const effects = new Map<string, ReceiverObservation>([
      ...[0, 1, 2, 4].map((n) => [of(n), { effect: 'failed', isSlow: n === 0 }] as const),
      [of(3), { effect: 'succeeded', isSlow: true }] as const,
    ]);
    const mixed = (await reports('failed')).flatMap((report) => {
      const observation = effects.get(uuidOf(report.webhookId));
      return observation === undefined ? [] : { ...report, ...observation };
    });
    const told = await applyReports(mixed);
    expect(told.map(({ webhookId, notice }) => [uuidOf(webhookId), notice])).toEqual([
      [of(1), 'FAILING'],
      [of(2), 'DISABLED_FAILING'],
    ]);
    const rows = await stores.ask(
      `SELECT status, failing_since IS NOT NULL AS failing, warned_at > now() - interval '1 hour' AS warned,
              EXISTS (SELECT FROM slow_lanes WHERE lane_id = type_id('wh', id)) AS slow,
              (SELECT kind FROM webhook_notices WHERE webhook_id = w.id) AS notice
       FROM   webhooks w WHERE workspace_id = $1 ORDER BY id LIMIT 6`,
      [uuidOf(acme)],
    );
    const untouched = { status: 'ACTIVE', failing: false, warned: null, slow: false, notice: null };
    expect(rows).toEqual([
      { ...untouched, failing: true, slow: true },
      { ...untouched, failing: true, warned: true, notice: 'FAILING' },
      { ...untouched, status: 'DISABLED', failing: true, warned: false, notice: 'DISABLED_FAILING' },
      { ...untouched, slow: true },
      { ...untouched, status: 'PAUSED' },
      untouched,
    ]);
    expect([await countHeld(), await countAudited()]).toEqual([1, 1]);
  });

  it('updates all but those that another transaction has locked; a deleted one does not count as locked', async () => {
    const gone = await reports('gone');
    const told: NewWebhookNotice[] = [];
    const holder = await stores.database.pool.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM webhooks WHERE id = $1 FOR NO KEY UPDATE', [uuids[50]]);
    await stores.ask('DELETE FROM webhooks WHERE id = $1', [uuids[51]]);
    const lockedElsewhere = await health.applyReports(gone, (newNotice) => told.push(newNotice));
    expect([...lockedElsewhere].map(uuidOf)).toEqual([uuids[50]]);
    await holder.query('ROLLBACK');
    holder.release();
    expect(await countWhere(`status = 'DISABLED'`)).toBe(WEBHOOKS - 2);
    expect(told).toHaveLength(WEBHOOKS - 2);
    expect(await applyReports(gone)).toHaveLength(1);
    expect(await countAudited()).toBe(WEBHOOKS - 1);
  });

  it('has the effect of one report when several processes report the same concurrently', async () => {
    const gone = await reports('gone');
    const told: NewWebhookNotice[] = [];
    const onNotice = async (what: readonly ReceiverReport[]): Promise<void> => {
      for (let left = what; left.length > 0;) {
        const lockedElsewhere = await health.applyReports(left, (newNotice) => told.push(newNotice));
        left = left.filter(({ webhookId }) => lockedElsewhere.has(webhookId));
      }
    };
    await Promise.all([gone, gone.toReversed(), gone].map(onNotice));
    expect(told).toHaveLength(WEBHOOKS);
    expect(await stores.count('webhook_notices', 'workspace_id = $1', [uuidOf(acme)])).toBe(WEBHOOKS);
  });
});
