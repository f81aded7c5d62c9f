import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { FIRST_ID, idFromUuid, newUuid, uuidOf, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import { operator, type RetentionOverrides, type Retention } from '@posthorn/domain';
import { DeliveryTestStores } from '../webhooks/deliveries.fixture.ts';
import { faultOf } from '../../faults/faults.ts';
import { rawEmail } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { runOutOfTimeBeyond } from '../../run-out-of-time.fixture.ts';
import type { ClaimedDelivery } from '../webhooks/claimed-delivery.ts';
import { EmailStore } from '../emails/email-store.ts';
import { EventFeedStore, type FeedPage } from '../events/event-feed-store.ts';
import { RetentionStore } from './retention-store.ts';
import { WorkspaceStore } from '../workspaces/workspace-store.ts';

const DAY_MS = 86_400_000;
const COMMON: Retention = { contentDays: 365, metadataDays: 365, eventDays: 65 };
const KNOWN = ['email_events', 'email_engagements', 'email_contents'] as const;

const stores = await openTestStores();
const retention = new RetentionStore(stores.database);

beforeAll(async () => {
  for (const parent of ['emails', 'events', 'webhook_deliveries', 'webhook_attempts', ...KNOWN])
    for (let months = 1; months <= 16; months += 1)
      await stores.ask(
        "SELECT make_partition($1, date_trunc('month', now() AT TIME ZONE 'UTC') - make_interval(months => $2))",
        [parent, months],
      );
});
beforeEach(async () => {
  for (const table of [
    'retention_rounds',
    'outbox',
    'emails',
    'events',
    'webhook_deliveries',
    'webhook_attempts',
    ...KNOWN,
  ])
    await stores.ask(`TRUNCATE ${table}`);
  await stores.ask('UPDATE workspaces SET content_days = NULL, metadata_days = NULL, event_days = NULL');
});

const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS - 3_600_000);

async function workspaceWith(own: Partial<RetentionOverrides>): Promise<WorkspaceId> {
  const id = await stores.openWorkspace();
  await retain(id, own);
  return id;
}

function retain(id: WorkspaceId, own: Partial<RetentionOverrides>): Promise<unknown> {
  const workspaces = new WorkspaceStore(stores.database);
  return workspaces.change(id, operator('test'), 'workspace.retention_changed', own);
}

/** An email that was accepted a number of days ago, with a timeline, opened once, and finished unless it is to wait. */
async function emailOf(workspaceId: WorkspaceId, days: number, waits = false): Promise<string> {
  const acceptedAt = daysAgo(days);
  const uuid = newUuid(acceptedAt.getTime());
  await stores.accept([rawEmail(workspaceId, { id: idFromUuid('trs', uuid), acceptedAt })]);
  if (!waits) await stores.ask('DELETE FROM outbox WHERE subject_id = $1', [uuid]);
  await stores.ask(`INSERT INTO email_events (email_id, kind, detail) VALUES ($1, 'SENT', '{}')`, [uuid]);
  await stores.ask(
    `INSERT INTO email_engagements (email_id, workspace_id, opens, clicks, machine_opens, machine_clicks) VALUES ($1, $2, 1, 0, 0, 0)`,
    [uuid, uuidOf(workspaceId)],
  );
  return uuid;
}

/** An event of a number of days ago, with a delivery that was attempted once. */
async function eventOf(
  workspaceId: WorkspaceId,
  days: number,
  status = 'SUCCEEDED',
  finishedDays = days,
): Promise<string> {
  const [id, webhook] = [newUuid(daysAgo(days).getTime()), newUuid(Date.now())];
  await stores.ask(
    `INSERT INTO events (id, workspace_id, type, payload, webhook_ids, created_at)
     VALUES ($1, $2, 'CONTACT_DELETED', '{"event":"CONTACT_DELETED"}', ARRAY[$3::uuid], $4)`,
    [id, uuidOf(workspaceId), webhook, daysAgo(days)],
  );
  await stores.ask(
    `INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id, status, finished_at)
     VALUES (delivery_id($1, $2), $3, $2, $1, $4::delivery_status, $5)`,
    [id, webhook, uuidOf(workspaceId), status, status === 'PENDING' ? null : daysAgo(finishedDays)],
  );
  await stores.ask(
    `INSERT INTO webhook_attempts (delivery_id, claims, number, status_code, duration_ms) VALUES (delivery_id($1, $2), 1, 1, 204, 5)`,
    [id, webhook],
  );
  return id;
}

async function removeAll(groupOf = 3, common = COMMON): Promise<Record<string, number>> {
  await retention.openRounds(common);
  const removed: Record<string, number> = { content: 0, metadata: 0, events: 0 };
  for (;;) {
    const group = await retention.removeGroup(common, groupOf);
    if (group === undefined) return removed;
    removed[group.subject]! += group.removed;
  }
}

/** Lets all workspaces be processed again, as if a day had passed. */
const nextDay = (): Promise<unknown> =>
  stores.ask("UPDATE retention_rounds SET next_at = now(), full_at = full_at - interval '1 day'");

const idsIn = async (table: string, key = 'email_id'): Promise<string[]> =>
  (await stores.ask<{ id: string }>(`SELECT DISTINCT ${key} AS id FROM ${table} ORDER BY 1`)).map(
    ({ id }) => id,
  );

describe('Emails that a workspace keeps for a shorter time', () => {
  it('are removed day by day, and no other workspace loses anything', async () => {
    const [brief, long] = [
      await workspaceWith({ contentDays: 7, metadataDays: 20 }),
      await workspaceWith({}),
    ];
    const mine: string[] = [];
    for (let days = 34; days >= 0; days -= 1) mine.push(await emailOf(brief, days));
    for (const days of [400, 34, 8, 1]) await emailOf(long, days);
    const left = (days: number): string[] => mine.slice(-days);
    expect(await removeAll()).toEqual({ content: 13 + 15, metadata: 15, events: 0 });
    for (const table of ['emails', 'email_events', 'email_engagements'])
      expect(
        (await idsIn(table, table === 'emails' ? 'id' : 'email_id')).filter((id) => mine.includes(id)),
      ).toEqual(left(20));
    expect((await idsIn('email_contents')).filter((id) => mine.includes(id))).toEqual(left(7));
    // As time passes, one more email each day exceeds each limit.
    for (let day = 1; day <= 30; day += 1) {
      const { contentDays, metadataDays } = { contentDays: 7 - day, metadataDays: 20 - day };
      if (contentDays < 0 || metadataDays < 1) break;
      await retain(brief, { contentDays, metadataDays });
      await nextDay();
      expect(await removeAll()).toEqual({ content: 1, metadata: 1, events: 0 });
    }
    expect(await stores.count('emails', 'workspace_id = $1', [uuidOf(long)])).toBe(4);
    expect(await stores.count('email_contents')).toBe(4);
  });

  it('are kept for as long as their workspace says, or else for the common time, whatever others keep', async () => {
    const common = { contentDays: 100, metadataDays: 200, eventDays: 65 };
    const own = { contentDays: 300, metadataDays: 400, eventDays: 90 };
    const [keeper, acme] = [await workspaceWith(own), await workspaceWith({})];
    // Within the hour that is allowed for after the newest one that was removed.
    const kept = [await emailOf(keeper, 250), await emailOf(acme, 50)];
    await emailOf(acme, 250);
    expect(await retention.longest(common)).toEqual(own);
    expect(await removeAll(3, common)).toEqual({ content: 1, metadata: 1, events: 0 });
    expect([await idsIn('emails', 'id'), await idsIn('email_contents')]).toEqual([kept, kept]);
  });

  it('are kept while they wait, and removed afterwards', async () => {
    const acme = await workspaceWith({ contentDays: 0, metadataDays: 1 });
    const [gone, waits] = [await emailOf(acme, 3), await emailOf(acme, 5, true)];
    expect(await removeAll(1)).toEqual({ content: 1, metadata: 1, events: 0 });
    expect(await idsIn('emails', 'id')).toEqual([waits]);
    expect(await idsIn('email_contents')).toEqual([waits]);
    expect(gone).not.toBe(waits);
    await stores.ask('DELETE FROM outbox');
    await nextDay();
    await removeAll(1);
    expect([...(await idsIn('emails', 'id')), ...(await idsIn('email_contents'))]).toEqual([]);
  });

  it('are not removed in their last hour: a transaction may still be writing to them', async () => {
    const acme = await workspaceWith({ contentDays: 0 });
    await stores.acceptEmails(acme, 1, { id: idFromUuid('trs', newUuid(Date.now() - 60_000)) });
    await stores.ask('DELETE FROM outbox');
    expect(await removeAll()).toMatchObject({ content: 0 });
  });

  it('are shown without content when only the content was removed', async () => {
    const acme = await workspaceWith({ contentDays: 1 });
    const id = idFromUuid('trs', await emailOf(acme, 3));
    await removeAll();
    const emails = new EmailStore(stores.database);
    expect(await emails.findComposable(acme, id)).toBeUndefined();
    expect(await emails.find(acme, id)).toMatchObject({ id, status: 'SENT', timeline: [{ kind: 'SENT' }] });
  });

  it('are removed once by two concurrent runs, and nothing is removed the second time', async () => {
    const all = await Promise.all(
      Array.from({ length: 6 }, () => workspaceWith({ contentDays: 2, metadataDays: 4 })),
    );
    for (const workspace of all) for (const days of [1, 3, 5, 6, 7]) await emailOf(workspace, days);
    const both = await Promise.all([removeAll(2), removeAll(2), removeAll(2)]);
    const sum = (name: string): number => both.reduce((total, removed) => total + removed[name]!, 0);
    expect(sum('metadata')).toBe(6 * 3);
    expect(await stores.count('emails')).toBe(6 * 2);
    expect(await stores.count('email_contents')).toBe(6 * 1);
    await nextDay();
    expect(await removeAll()).toEqual({ content: 0, metadata: 0, events: 0 });
  });
});

describe('Events that a workspace keeps for a shorter time', () => {
  it('W9, W10: are removed with their deliveries, but not those that are due, held, or were exhausted in the last 30 days', async () => {
    const acme = await workspaceWith({ eventDays: 10 });
    const ofAnother = await eventOf(await workspaceWith({}), 60);
    const goes = [
      await eventOf(acme, 60),
      await eventOf(acme, 50, 'EXHAUSTED', 31),
      await eventOf(acme, 11, 'CANCELLED'),
    ];
    const unheard = await eventOf(acme, 20);
    const stays = [
      ofAnother,
      unheard,
      await eventOf(acme, 40, 'PENDING'),
      await eventOf(acme, 40, 'EXHAUSTED', 29),
      // The last one, because a round ends at the first that is not old enough.
      await eventOf(acme, 9),
    ];
    await stores.ask(
      `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at) VALUES ($1, 'event', 'lane', 'ready', now())`,
      [unheard],
    );
    expect(await removeAll()).toEqual({ content: 0, metadata: 0, events: goes.length });
    expect(await idsIn('events', 'id')).toEqual(stays.toSorted());
    expect(await idsIn('webhook_deliveries', 'event_id')).toEqual(stays.toSorted());
    expect(await stores.count('webhook_attempts')).toBe(5);
  });

  it('are removed group by group, past those that are kept, up to the first that is not old enough', async () => {
    const acme = await workspaceWith({ eventDays: 10 });
    for (const days of [60, 50]) await eventOf(acme, days, 'PENDING');
    for (const days of [40, 30, 3, 2, 1]) await eventOf(acme, days);
    await retention.openRounds(COMMON);
    const removed: (number | undefined)[] = [];
    for (let groups = 0; groups < 4; groups += 1)
      removed.push((await retention.removeGroup(COMMON, 2))?.removed);
    expect(removed).toEqual([0, 2, 0, undefined]);
  });

  it('are not silently missing in the feed: a position before them is refused as too old', async () => {
    const acme = await workspaceWith({ eventDays: 10 });
    await eventOf(acme, 60);
    const young = await eventOf(acme, 3);
    await removeAll();
    await stores.untilInFeed();
    const feed = new EventFeedStore(stores.database);
    const readFrom = (id: string): Promise<unknown> =>
      feed.read(acme, { limit: 10, from: { after: idFromUuid('evt', id) } });
    expect(await readFrom(newUuid(daysAgo(60).getTime()))).toEqual({ fault: 'EXPIRED' });
    expect(await readFrom(young)).toMatchObject({ items: [] });
    const readOn = (days: number): Promise<unknown> =>
      feed.read(acme, { limit: 10, from: { era: 1, xid: 1n, id: FIRST_ID, atMs: daysAgo(days).getTime() } });
    expect(await readOn(61)).toEqual({ fault: 'EXPIRED' });
    expect(await readOn(9)).toMatchObject({ items: [{ id: idFromUuid('evt', young) }] });
    // What was removed does not come back when events are kept for longer from now on.
    await retain(acme, { eventDays: 50 });
    await nextDay();
    await removeAll();
    expect(await readFrom(newUuid(daysAgo(30).getTime()))).toEqual({ fault: 'EXPIRED' });
  });

  it('do not keep a reader from continuing after the oldest event that is kept', async () => {
    const acme = await workspaceWith({ eventDays: 10 });
    await eventOf(acme, 60);
    // Within the hour that is allowed for after the newest one that was removed.
    const kept = [await eventOf(acme, 9.94), await eventOf(acme, 9.93)].map((id) => idFromUuid('evt', id));
    await removeAll();
    await stores.untilInFeed();
    const feed = new EventFeedStore(stores.database);
    const first = (await feed.read(acme, { limit: 1 })) as FeedPage;
    expect(first).toMatchObject({ items: [{ id: kept[0] }], hasMore: true });
    expect(await feed.read(acme, { limit: 1, from: first.position })).toMatchObject({
      items: [{ id: kept[1] }],
    });
  });

  it('are kept while somebody else changes a delivery of theirs, without waiting for that', async () => {
    const acme = await workspaceWith({ eventDays: 10 });
    const event = await eventOf(acme, 40);
    const client = await stores.database.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT FROM webhook_deliveries WHERE event_id = $1 FOR UPDATE', [event]);
      expect(await removeAll()).toMatchObject({ events: 0 });
    } finally {
      client.release(true);
    }
    await nextDay();
    expect(await removeAll()).toMatchObject({ events: 1 });
  });
});

describe('Removing events while outcomes of their deliveries are recorded', () => {
  /** A delivery of an event of 40 days ago, which has just been claimed. */
  async function claimOld(workspaceId: WorkspaceId): Promise<ClaimedDelivery> {
    const event = await eventOf(workspaceId, 40, 'PENDING');
    const [row] = await stores.ask<{ webhook: string }>(
      `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at, claims)
       SELECT id, 'webhook', type_id('wh', webhook_id), 'ready', now(), 1 FROM webhook_deliveries WHERE event_id = $1
       RETURNING lane_id AS webhook`,
      [event],
    );
    return (await new DeliveryTestStores(stores).claim(row!.webhook as WebhookId))[0]!;
  }

  /** Starts tasks one after the other, each once all earlier ones have ended or wait for a lock; `row` is locked until then. */
  async function whileLocked(row: string, ...works: (() => Promise<unknown>)[]): Promise<unknown[]> {
    const open = new Set<Promise<unknown>>();
    const client = await stores.database.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT FROM webhook_deliveries WHERE id = $1 FOR UPDATE', [row]);
      const done: Promise<unknown>[] = [];
      for (const work of works) {
        const begun = work();
        open.add(begun);
        done.push(begun.finally(() => open.delete(begun)));
        while ((await stores.countWaiting()) < open.size);
      }
      await client.query('COMMIT');
      return await Promise.all(done);
    } finally {
      client.release();
    }
  }

  const byUuid = (one: ClaimedDelivery, other: ClaimedDelivery): number =>
    uuidOf(one.id) < uuidOf(other.id) ? -1 : 1;

  it.each([[0], [1]])('does not deadlock, with a failed outcome of delivery %i', async (failed) => {
    const acme = await workspaceWith({ eventDays: 10 });
    const old = [await claimOld(acme), await claimOld(acme)].toSorted(byUuid);
    const deliveryStores = new DeliveryTestStores(stores);
    const outcomes = old.map((each, n) =>
      n === failed ? deliveryStores.failed(each) : deliveryStores.outcome(each),
    );
    await retention.openRounds(COMMON);
    expect(
      await whileLocked(
        uuidOf(old[0]!.id),
        () => retention.removeGroup(COMMON, 10),
        () => deliveryStores.deliveries.record(outcomes),
      ),
    ).toEqual([{ subject: 'events', removed: 0 }, [true, true]]);
  });
});

describe('Months of emails', () => {
  const months = async (parent: string): Promise<number> =>
    (await stores.ask('SELECT FROM pg_inherits WHERE inhparent = $1::regclass', [parent])).length;
  /** Repeats what has waited half a second for a lock, as the scheduler does. */
  const dropSome = (own: Retention): Promise<number> =>
    retention.dropOldEmails(own).catch((error: unknown) => {
      if (faultOf(error) !== 'locked') throw error;
      return dropSome(own);
    });
  const dropAll = async (own: Retention): Promise<number> => {
    let tables = 0;
    for (let dropped = -1; dropped !== 0; tables += dropped) dropped = await dropSome(own);
    return tables;
  };

  it('are kept while any workspace keeps them or an email in them waits; then they are dropped, once', async () => {
    const keeper = await workspaceWith({ metadataDays: 3_000 });
    const now = new Date();
    const monthAgo = (count: number): number => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count);
    const daysSinceMiddleOf = (count: number): number => (now.getTime() - monthAgo(count)) / DAY_MS - 15;
    const waiting = await emailOf(keeper, daysSinceMiddleOf(14), true);
    await emailOf(keeper, daysSinceMiddleOf(13));
    for (const edge of [monthAgo(16), monthAgo(14) - 1])
      await stores.ask(
        `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at) VALUES ($1, 'email', 'lane', 'ready', now())`,
        [newUuid(edge)],
      );
    // A delivery that waits does not keep the emails of its month.
    await stores.ask(
      `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at) VALUES ($1, 'webhook', 'lane', 'ready', now())`,
      [newUuid(monthAgo(13))],
    );
    const all = await months('emails');
    expect(await dropAll(await retention.longest({ ...COMMON, contentDays: 365 }))).toBeGreaterThan(0);
    expect(await months('emails')).toBe(all);
    expect(await idsIn('email_contents')).toEqual([waiting]);
    await stores.ask('UPDATE workspaces SET metadata_days = NULL');
    const [one, other] = await Promise.all([dropAll(COMMON), dropAll(COMMON)]);
    expect(one + other).toBeGreaterThan(0);
    expect(await months('emails')).toBeLessThan(all);
    expect(await idsIn('emails', 'id')).toContain(waiting);
    await stores.ask('DELETE FROM outbox');
    expect(await dropAll(COMMON)).toBe(3 * 4);
    expect(await idsIn('emails', 'id')).not.toContain(waiting);
    expect(await dropAll(COMMON)).toBe(0);
  });

  it('keep contents for a day after their month, because emails with ids of it may still be accepted', async () => {
    const client = await stores.database.pool.connect();
    const store = new RetentionStore({ ...stores.database, pool: client as unknown as pg.Pool });
    const isThereAfter = async (time: string): Promise<boolean> => {
      await client.query(`CREATE OR REPLACE FUNCTION later.now() RETURNS timestamptz LANGUAGE sql STABLE RETURN
        (date_trunc('month', pg_catalog.now() AT TIME ZONE 'UTC') + interval '1 month' + interval '${time}') AT TIME ZONE 'UTC'`);
      while ((await store.dropOldEmails({ ...COMMON, contentDays: 0 })) > 0);
      const table = `'email_contents_' || to_char(pg_catalog.now() AT TIME ZONE 'UTC', 'YYYY_MM')`;
      const { rows } = await client.query<{ found: boolean }>(
        `SELECT to_regclass(${table}) IS NOT NULL AS found`,
      );
      return rows[0]!.found;
    };
    try {
      await client.query('BEGIN; CREATE SCHEMA later; SET LOCAL search_path = later, public, pg_catalog');
      expect(await isThereAfter('1 second')).toBe(true);
      expect(await isThereAfter('23 hours')).toBe(true);
      expect(await isThereAfter('25 hours')).toBe(false);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });

  it('wait for readers at most half a second, and block nobody for longer', async () => {
    const reader = await stores.database.pool.connect();
    try {
      await reader.query('BEGIN');
      await reader.query('SELECT FROM emails LIMIT 1');
      await expect(
        retention.dropOldEmails({ ...COMMON, contentDays: 30, metadataDays: 30 }),
      ).rejects.toMatchObject({ code: '55P03' });
    } finally {
      await reader.query('ROLLBACK');
      reader.release();
    }
  });
});

describe('Content that cannot be removed', () => {
  /** Runs SQL for each content of these emails that is removed. */
  async function onRemoval(statement: string): Promise<void> {
    await stores.ask(
      `CREATE OR REPLACE FUNCTION be_troublesome() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${statement} RETURN OLD; END $$`,
    );
    await stores.ask(
      'CREATE TRIGGER troublesome BEFORE DELETE ON email_contents FOR EACH ROW EXECUTE FUNCTION be_troublesome()',
    );
  }
  const dueIn = async (id: WorkspaceId): Promise<number> => {
    const sql = `SELECT extract(epoch FROM next_at - now())::float8 AS seconds FROM retention_rounds WHERE workspace_id = $1 AND subject = 'content'`;
    return (await stores.ask<{ seconds: number }>(sql, [uuidOf(id)]))[0]!.seconds;
  };
  afterEach(() => stores.ask('DROP TRIGGER IF EXISTS troublesome ON email_contents'));

  it('does not prevent removal for other workspaces, and is tried again some minutes later', async () => {
    const [broken, sound] = [
      await workspaceWith({ contentDays: 7 }),
      await workspaceWith({ contentDays: 7 }),
    ];
    const stays = await emailOf(broken, 20);
    await emailOf(sound, 20);
    await retention.openRounds(COMMON);
    await stores.ask(
      `UPDATE retention_rounds SET next_at = now() - interval '1 day' WHERE workspace_id = $1`,
      [uuidOf(broken)],
    );
    await onRemoval(`IF OLD.email_id = '${stays}' THEN RAISE 'broken page'; END IF;`);
    await expect(retention.removeGroup(COMMON, 3)).rejects.toThrow('broken page');
    expect(await dueIn(broken)).toBeGreaterThan(60);
    expect(await removeAll()).toMatchObject({ content: 1 });
    expect(await idsIn('email_contents')).toEqual([stays]);
    await stores.ask('ALTER TABLE email_contents DISABLE TRIGGER troublesome');
    await stores.ask('UPDATE retention_rounds SET next_at = now()');
    expect(await removeAll()).toMatchObject({ content: 1 });
  });

  it('because of a timeout is removed in smaller groups', async () => {
    const id = await workspaceWith({ contentDays: 7 });
    for (let n = 0; n < 40; n += 1) await emailOf(id, 20);
    const inTimeAgain = await runOutOfTimeBeyond(stores, 15, 'DELETE', 'email_contents');
    await retention.openRounds(COMMON);
    const store = new RetentionStore(stores.database);
    let removed = 0;
    // Postgres reports a failure before it releases the locks of the failed statement, and a locked round is skipped.
    while ((await dueIn(id)) < 60) removed += (await store.removeGroup(COMMON, 500))?.removed ?? 0;
    await inTimeAgain();
    expect(removed).toBe(40);
    expect(await stores.count('email_contents')).toBe(0);
  });
});
