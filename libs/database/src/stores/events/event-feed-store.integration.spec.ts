import { beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import {
  type DatabaseClock,
  type EventId,
  FIRST_ID,
  idFromUuid,
  newId,
  type WorkspaceId,
  uuidOf,
} from '@posthorn/kernel';
import { type EventName, eventPayload, type FeedPosition } from '@posthorn/domain';
import { PATIENT_LIMITS, PrivatePostgres } from '@posthorn/testing';
import { waitForDatabase, openDatabase } from '../../connection/connection.ts';
import { someContact } from '../webhooks/deliveries.fixture.ts';
import { recordEvents } from './record-events.ts';
import { TestStores } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { transactOn } from '../../transactions/transaction.ts';
import { EventFeedStore, type FeedPage, type WantedEvents } from './event-feed-store.ts';

const WRITERS = 8;
const ROUNDS = 40;

const stores = await openTestStores();
const feed = new EventFeedStore(stores.database);
let acme: WorkspaceId;

beforeEach(async () => {
  acme = await stores.openWorkspace();
});

type Name = Extract<EventName, `CONTACT_${'CREATED' | 'DELETED'}`>;

/** Records events in one transaction, which stays open for a while and is then committed or rolled back. */
async function record(
  names: readonly Name[],
  { goesOn = () => Promise.resolve(), keeps = true } = {},
): Promise<void> {
  const recorded = transactOn(stores.database, async (client) => {
    const events = names.map((name) => ({ workspaceId: acme, name, data: someContact(acme) }));
    await recordEvents(client, Date.now(), events);
    await goesOn();
    if (!keeps) throw new Error('changed its mind');
  });
  await recorded.catch((error: unknown) => {
    if (keeps) throw error;
  });
}

async function page(request: Partial<WantedEvents> = {}): Promise<FeedPage> {
  const read = await feed.read(acme, { limit: 100, ...request });
  if ('fault' in read) throw new Error(read.fault);
  return read;
}

/** Reads to the end of the feed, from a position or from the beginning. */
async function readOn(
  request: Partial<WantedEvents> = {},
): Promise<{ ids: EventId[]; position: FeedPosition }> {
  const ids: EventId[] = [];
  for (let from = request.from; ;) {
    const { items, hasMore, position } = await page({ ...request, from });
    ids.push(...items.map(({ id }) => id));
    if (!hasMore) return { ids, position };
    from = position;
  }
}

const committed = async (): Promise<EventId[]> => {
  const sql = 'SELECT id FROM events WHERE workspace_id = $1';
  const rows = await stores.ask<{ id: string }>(sql, [uuidOf(acme)]);
  return rows.map(({ id }) => idFromUuid('evt', id));
};

describe('N5: the feed of events', () => {
  it('returns payloads as they were recorded', async () => {
    const data = someContact(acme, Object.fromEntries(['qq\\', 'qq"', 'qq\n', 'é'].map((key) => [key, 1])));
    const now = new Date();
    await transactOn(stores.database, (client) =>
      recordEvents(client, now.getTime(), [{ workspaceId: acme, name: 'CONTACT_CREATED', data }]),
    );
    await stores.untilInFeed();
    const payload = eventPayload('CONTACT_CREATED', now, data);
    expect((await page()).items).toEqual([{ id: expect.any(String), payload }]);
  });

  it('returns no event before which another one may still be committed', async () => {
    await record(['CONTACT_CREATED']);
    await stores.untilInFeed();
    const before = await readOn();
    expect(before.ids).toHaveLength(1);

    const [recorded, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = record(['CONTACT_CREATED', 'CONTACT_DELETED'], {
      goesOn: () => (recorded.resolve(), mayCommit.promise),
    });
    await recorded.promise;
    await record(['CONTACT_DELETED']);
    expect(await committed()).toHaveLength(2);
    const meanwhile = await readOn({ from: before.position });
    expect(meanwhile.ids).toEqual([]);
    mayCommit.resolve();
    await slow;
    await stores.untilInFeed();
    const after = await readOn({ from: meanwhile.position });
    expect(after.ids).toHaveLength(3);
    expect([...before.ids, ...after.ids].sort()).toEqual((await committed()).sort());
    expect((await readOn()).ids).toEqual([...before.ids, ...after.ids]);
    expect((await readOn({ from: after.position })).ids).toEqual([]);
  });

  it('misses nothing, repeats nothing and keeps its order while many transactions write concurrently and commit late', async () => {
    let areWriting = true;
    const writer = async (): Promise<void> => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const names: Name[] =
          Math.random() < 0.5 ? ['CONTACT_CREATED'] : ['CONTACT_DELETED', 'CONTACT_CREATED'];
        await record(names, { goesOn: () => sleep(Math.random() * 30), keeps: Math.random() < 0.9 });
      }
    };
    const reader = async (limit: number, event?: EventName): Promise<EventId[]> => {
      const read: EventId[] = [];
      for (let from: FeedPosition | undefined, isLast = false; !isLast;) {
        isLast = !areWriting;
        const more = await readOn({ limit, event, from });
        read.push(...more.ids);
        from = more.position;
      }
      return read;
    };
    const reading = Promise.all([reader(1), reader(7), reader(100), reader(5, 'CONTACT_DELETED')]);
    await Promise.all(Array.from({ length: WRITERS }, writer));
    await stores.untilInFeed();
    areWriting = false;
    const [one, seven, hundred, deleted] = await reading;
    const all = await committed();
    expect(all.length).toBeGreaterThan(WRITERS * ROUNDS);
    expect(new Set(one).size).toBe(one.length);
    expect([...one].sort()).toEqual(all.sort());
    expect(seven).toEqual(one);
    expect(hundred).toEqual(one);
    expect((await readOn({ limit: 13 })).ids).toEqual(one);
    const ofName = await stores.ask<{ id: string }>(
      `SELECT id FROM events WHERE workspace_id = $1 AND type = 'CONTACT_DELETED'`,
      [uuidOf(acme)],
    );
    const isDeleted = new Set(ofName.map(({ id }) => idFromUuid('evt', id)));
    expect(deleted).toEqual(one.filter((id) => isDeleted.has(id)));
  });

  it('continues after any of its events, and returns nothing of another workspace', async () => {
    for (let n = 0; n < 5; n += 1) await record(['CONTACT_CREATED']);
    await stores.untilInFeed();
    const { ids } = await readOn();
    expect((await readOn({ from: { after: ids[1]! }, limit: 2 })).ids).toEqual(ids.slice(2));
    const other = await stores.openWorkspace();
    expect(await feed.read(other, { limit: 10 })).toMatchObject({ items: [], hasMore: false });
    expect(await feed.read(other, { limit: 10, from: { after: ids[1]! } })).toEqual({ fault: 'UNKNOWN' });
  });

  it('searches a limited number of events for those of a type, and returns where to continue; test events are not included', async () => {
    for (let n = 0; n < 4; n += 1) await record(Array<Name>(5).fill('CONTACT_CREATED'));
    await record(['CONTACT_DELETED', 'CONTACT_DELETED']);
    await stores.ask(
      `UPDATE events SET is_test = true
       WHERE  id = (SELECT id FROM events WHERE workspace_id = $1 AND type = 'CONTACT_DELETED' LIMIT 1)`,
      [uuidOf(acme)],
    );
    await stores.untilInFeed();
    const bounded = new EventFeedStore(stores.database, 8);
    const pages: FeedPage[] = [];
    for (let from: FeedPosition | undefined, hasMore = true; hasMore;) {
      const read = (await bounded.read(acme, { limit: 3, event: 'CONTACT_DELETED', from })) as FeedPage;
      pages.push(read);
      ({ position: from, hasMore } = read);
    }
    expect(pages.map(({ items, hasMore }) => [items.length, hasMore])).toEqual([
      [0, true],
      [0, true],
      [1, false],
    ]);
    expect((await readOn()).ids).toHaveLength(21);
  });
});

describe('N5: a position in the feed', () => {
  const END: FeedPosition = { era: 1, xid: 1n, id: FIRST_ID, atMs: 0 };

  it('has expired if a month after it, or the one of its event, was dropped; one that never existed is unknown', async () => {
    const [old, oldMs] = ['2020-01-01T00:00:00Z', Date.UTC(2020, 1, 10)];
    await stores.ask('UPDATE event_eras SET began_at = $1', [old]);
    for (const month of ['2020-01-01', '2020-02-01'])
      await stores.ask(`SELECT make_partition('events', $1::timestamp)`, [month]);
    const keptFrom = (from: WantedEvents['from']): Promise<unknown> => feed.read(acme, { limit: 1, from });
    expect(await keptFrom({ ...END, atMs: oldMs })).toEqual({ fault: 'EXPIRED' });
    expect(await keptFrom({ after: newId('evt', oldMs) })).toEqual({ fault: 'EXPIRED' });
    await stores.ask(
      `SELECT make_partition('events', month::timestamp)
       FROM   generate_series('2020-03-01'::timestamp, now() AT TIME ZONE 'UTC', '1 month') AS month`,
    );
    expect(await keptFrom({ ...END, atMs: oldMs })).toMatchObject({ items: [] });
    expect(await keptFrom({ after: newId('evt', oldMs) })).toEqual({ fault: 'UNKNOWN' });
    const idle = await stores.openWorkspace();
    await transactOn(stores.database, (client) =>
      recordEvents(client, oldMs, [{ workspaceId: idle, name: 'CONTACT_CREATED', data: someContact(idle) }]),
    );
    await stores.untilInFeed();
    const { position: end } = (await feed.read(idle, { limit: 1 })) as FeedPage;
    await stores.ask('DROP TABLE events_2020_07');
    expect(await keptFrom({ ...END, atMs: oldMs })).toEqual({ fault: 'EXPIRED' });
    expect(await keptFrom({ ...END, atMs: Date.UTC(2020, 8, 1) })).toMatchObject({ items: [] });
    // Who has read everything and then had nothing to read for months has missed nothing.
    expect(await feed.read(idle, { limit: 1, from: end })).toMatchObject({ items: [], hasMore: false });
    await stores.ask('UPDATE event_eras SET began_at = now()');
  });

  it('is valid from the oldest event behind a dropped month on, even just after it; no event before it is shown', async () => {
    await stores.ask(`UPDATE event_eras SET began_at = '2020-01-01T00:00:00Z'`);
    await stores.ask('DROP TABLE IF EXISTS events_2020_12');
    await stores.ask(
      `SELECT make_partition('events', month::timestamp)
       FROM   generate_series('2020-11-01'::timestamp, now() AT TIME ZONE 'UTC', '1 month') AS month
       WHERE  month <> '2020-12-01'`,
    );
    // November is kept for something unfinished in it, and dropped while somebody reads.
    for (const atMs of [
      Date.UTC(2020, 10, 20),
      Date.UTC(2020, 10, 21),
      Date.UTC(2021, 0, 1),
      Date.UTC(2021, 0, 1, 12),
      Date.UTC(2021, 1, 1),
    ]) {
      const event = { workspaceId: acme, name: 'CONTACT_CREATED', data: someContact(acme) } as const;
      await transactOn(stores.database, (client) => recordEvents(client, atMs, [event]));
    }
    await stores.untilInFeed();
    const { ids } = await readOn({ limit: 1 });
    const first = await page({ limit: 1 });
    await stores.ask('DROP TABLE events_2020_11');
    const rest = await readOn({ limit: 1, from: first.position });
    expect([first.items[0]!.id, ...rest.ids]).toEqual(ids);
    expect(ids).toHaveLength(3);
    const { position } = await page({ limit: 1 });
    await stores.ask('DROP TABLE events_2021_01');
    expect(await feed.read(acme, { limit: 1, from: position })).toEqual({ fault: 'EXPIRED' });
    expect((await readOn({ limit: 1 })).ids).toHaveLength(1);
    await stores.ask('UPDATE event_eras SET began_at = now()');
  });

  it('is valid even on the first day after a month that is missing', async () => {
    const [found] = await stores.ask<{ definition: string }>(
      `SELECT pg_get_functiondef('are_events_kept'::regproc) AS definition`,
    );
    const client = await stores.database.pool.connect();
    const today = new Date();
    const laterMs = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 1, 1);
    const later = new EventFeedStore({
      pool: client as unknown as pg.Pool,
      clock: { nowMs: () => laterMs } as DatabaseClock,
    });
    try {
      await client.query('BEGIN; CREATE SCHEMA later; SET LOCAL search_path = later, public, pg_catalog');
      await client.query(`CREATE FUNCTION later.now() RETURNS timestamptz LANGUAGE sql STABLE
                          RETURN to_timestamp(${laterMs / 1_000})`);
      await client.query(found!.definition);
      await client.query(`UPDATE event_eras SET began_at = pg_catalog.now() - interval '1 day'`);
      await client.query(
        `DO $$ BEGIN EXECUTE 'DROP TABLE events_' || to_char(pg_catalog.now() AT TIME ZONE 'UTC', 'YYYY_MM'); END $$`,
      );
      const { position } = (await later.read(acme, { limit: 1 })) as FeedPage;
      expect(await later.read(acme, { limit: 1, from: position })).toMatchObject({
        items: [],
        hasMore: false,
      });
      const yesterday = { ...position, atMs: laterMs };
      expect(await later.read(acme, { limit: 1, from: yesterday })).toEqual({ fault: 'EXPIRED' });
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });

  it('that the database has not reached yet is refused, but any time is possible', async () => {
    const beyond = { ...END, xid: 10n ** 17n };
    expect(await feed.read(acme, { limit: 1, from: beyond })).toEqual({ fault: 'AHEAD' });
    expect(await feed.read(acme, { limit: 1, from: { ...END, era: 9 } })).toEqual({ fault: 'AHEAD' });
    const latest = idFromUuid('evt', 'ffffffff-ffff-7fff-bfff-ffffffffffff');
    expect(await feed.read(acme, { limit: 1, from: { after: latest } })).toEqual({ fault: 'UNKNOWN' });
    expect(await feed.read(acme, { limit: 1, from: { ...END, atMs: 99_999_999_999_999 } })).toMatchObject({
      items: [],
    });
  });
});

describe('N5: a database that was restored on another server', () => {
  it('continues the order of its events, from every position, and begins one era in concurrent calls', async () => {
    for (let n = 0; n < 3; n += 1) await record(['CONTACT_CREATED']);
    await stores.untilInFeed();
    const before = await readOn();
    const half = await page({ limit: 1 });
    // The transaction ids of the old server were much higher than those of this one.
    await stores.ask(
      `UPDATE events SET xid = (xid::text::bigint + 1000000000)::text::xid8 WHERE workspace_id = $1`,
      [uuidOf(acme)],
    );
    await stores.ask('UPDATE event_eras SET system_identifier = 1');
    const here = { ...half.position, xid: half.position.xid + 1_000_000_000n };

    const role = `app_${process.pid}`;
    await stores.ask(`CREATE ROLE ${role}`);
    await stores.ask(`GRANT SELECT ON _prisma_migrations TO ${role}`);
    const greeters = Array.from({ length: 4 }, () =>
      openDatabase({ url: stores.url, poolSize: 1, applicationName: 'test', limits: PATIENT_LIMITS }),
    );
    try {
      await Promise.all(
        greeters.map(async (database) => {
          // The role that uses the tables may be another one than their owner.
          await database.pool.query(`SET ROLE ${role}`);
          await waitForDatabase(database);
        }),
      );
    } finally {
      await Promise.all(greeters.map((database) => database.close()));
      await stores.ask(`DROP OWNED BY ${role}`);
      await stores.ask(`DROP ROLE ${role}`);
    }
    expect(await stores.ask('SELECT FROM event_eras')).toHaveLength(2);

    await record(['CONTACT_DELETED']);
    await stores.untilInFeed();
    const after = await readOn();
    expect(after.ids.slice(0, 3)).toEqual(before.ids);
    expect(after.ids).toHaveLength(4);
    expect((await readOn({ from: here })).ids).toEqual(after.ids.slice(1));
    expect((await readOn({ from: { after: before.ids[2]! } })).ids).toEqual(after.ids.slice(3));
    await record(['CONTACT_CREATED']);
    await stores.untilInFeed();
    expect((await readOn({ from: after.position })).ids).toHaveLength(1);
  });

  it('has not come as far as a position of an era that is lost, after the same backup was restored once more', async () => {
    const restore = async (): Promise<number> => {
      await stores.ask('UPDATE event_eras SET system_identifier = 1');
      const [begun] = await stores.ask<{ era: number }>('SELECT keep_event_era() AS era');
      return begun!.era;
    };
    // An era's number is the second in which it begins, unless an earlier one already has it.
    const untilLaterThanEras = (): Promise<unknown> =>
      stores.ask(`SELECT pg_sleep(greatest(0, max(era) + 1 - extract(epoch FROM now() - timestamptz '2026-01-01 00:00:00+00')))
                  FROM event_eras`);
    await record(['CONTACT_CREATED']);
    await stores.untilInFeed();
    const before = await readOn();
    await untilLaterThanEras();
    const lost = await restore();
    await record(['CONTACT_CREATED']);
    await stores.untilInFeed();
    const { position } = await readOn();
    expect(position.era).toBe(lost);
    await untilLaterThanEras();
    await stores.ask('DELETE FROM events WHERE era = $1', [lost]);
    await stores.ask('DELETE FROM event_eras WHERE era = $1', [lost]);
    await restore();
    await record(['CONTACT_DELETED']);
    await stores.untilInFeed();
    const all = await readOn();
    expect(all.ids).toHaveLength(2);
    expect((await readOn({ from: before.position })).ids).toEqual(all.ids.slice(1));
    // The lost server had come further.
    const further = { ...position, xid: all.position.xid };
    expect(await feed.read(acme, { limit: 1, from: further })).toEqual({ fault: 'AHEAD' });
  });
});

describe('N5: a server that crashes', () => {
  it('assigns transaction ids again, and no event of one of them is missed', async () => {
    const postgres = await PrivatePostgres.start();
    const there = new TestStores(postgres.url);
    try {
      const workspaceId = await there.openWorkspace();
      const created = { workspaceId, name: 'CONTACT_CREATED', data: someContact(workspaceId) } as const;
      const recordOne = (): Promise<void> =>
        transactOn(there.database, (client) => recordEvents(client, Date.now(), [created]));
      const readFrom = (from?: FeedPosition): Promise<unknown> =>
        new EventFeedStore(there.database).read(workspaceId, { limit: 100, from });
      // The ids of rolled back transactions are not flushed yet, and are lost in the crash.
      await there.ask(`ALTER SYSTEM SET wal_writer_delay = '10s'`);
      await there.ask('SELECT pg_reload_conf()');
      await recordOne();
      const before = (await readFrom()) as FeedPage;
      expect(before.items).toHaveLength(1);
      for (let n = 0; n < 20; n += 1) await there.ask('BEGIN; SELECT pg_current_xact_id(); ROLLBACK');
      const { position } = (await readFrom(before.position)) as FeedPage;
      await postgres.crash();
      await postgres.restart();
      for (let n = 0; n < 30; n += 1) await recordOne();
      expect(((await readFrom(position)) as FeedPage).items).toHaveLength(30);
    } finally {
      await there.close();
      await postgres.close();
    }
  });
});
