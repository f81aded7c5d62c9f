import { describe, expect, it } from '@jest/globals';
import { idFromUuid, newUuid, uuidOf } from '@posthorn/kernel';
import { createTestDatabase } from '@posthorn/testing';
import { faultOf } from '../faults/faults.ts';
import { TestStores, rawEmail } from '../test-stores.fixture.ts';
import { openTestStores } from '../open-test-stores.fixture.ts';
import { executedPlan, pagesTouched } from '../sql/plan.fixture.ts';
import { UpkeepStore } from '../stores/retention/upkeep-store.ts';

const PARENTS = [
  'emails',
  'email_contents',
  'email_events',
  'email_engagements',
  'events',
  'webhook_deliveries',
  'webhook_attempts',
];

const TOLD = ['events', 'webhook_deliveries', 'webhook_attempts'];

const stores = await openTestStores();
const upkeep = new UpkeepStore(stores.database);

/** The first moment of a month, counted from now or from another time (UTC). */
function monthAhead(months: number, from = new Date()): Date {
  return new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months, 1));
}

/** Its first day, as `YYYY-MM-DD`. */
function dayOf(months: number, from?: Date): string {
  return monthAhead(months, from).toISOString().slice(0, 10);
}

function nameOf(parent: string, months: number, from?: Date): string {
  return `${parent}_${dayOf(months, from).slice(0, 7).replace('-', '_')}`;
}

/** Makes the partitions of a month for events, deliveries and attempts. */
async function makeMonth(months: number): Promise<void> {
  for (const parent of TOLD) await stores.ask('SELECT make_partition($1, $2)', [parent, dayOf(months)]);
}

async function partitionsOf(parent: string): Promise<string[]> {
  const rows = await stores.ask<{ name: string }>(
    'SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::regclass ORDER BY 1',
    [parent],
  );
  return rows.map(({ name }) => name);
}

describe('Making partitions', () => {
  it.each(PARENTS)('creates this month and three more of %s in a new database', async (parent) => {
    // The template of this database was created when the tests began: a new month may have begun since.
    const [migrated] = await stores.ask<{ at: Date }>(
      'SELECT min(finished_at) AS at FROM _prisma_migrations',
    );
    expect(await partitionsOf(parent)).toEqual(
      [0, 1, 2, 3].map((months) => nameOf(parent, months, migrated!.at)),
    );
  });

  it('creates missing partitions, and nothing the second time', async () => {
    await upkeep.makePartitions(3);
    expect(await upkeep.makePartitions(5)).toBe(2 * PARENTS.length);
    expect(await upkeep.makePartitions(5)).toBe(0);
    expect((await partitionsOf('email_events')).slice(-6)).toEqual(
      [0, 1, 2, 3, 4, 5].map((months) => nameOf('email_events', months)),
    );
  });

  it('creates each partition once in concurrent calls', async () => {
    const made = await Promise.all([1, 2, 3, 4, 5].map(() => upkeep.makePartitions(8)));
    expect(made.toSorted()).toEqual([0, 0, 0, 0, 3 * PARENTS.length].toSorted());
  });

  it('continues into the next year', async () => {
    await upkeep.makePartitions(13);
    expect(await partitionsOf('emails')).toContain(nameOf('emails', 13));
  });

  it('neither waits for transactions that write emails nor blocks them', async () => {
    const acme = await stores.openWorkspace();
    const writer = await stores.database.pool.connect();
    try {
      await writer.query('BEGIN');
      for (const parent of PARENTS) await writer.query(`LOCK TABLE ${parent} IN ROW EXCLUSIVE MODE`);
      expect(await upkeep.makePartitions(15)).toBe(2 * PARENTS.length);
    } finally {
      await writer.query('ROLLBACK');
      writer.release();
    }
    expect(await stores.acceptEmails(acme, 1)).toHaveLength(1);
  });

  it('gives each partition the keys, indexes and checks of its parent', async () => {
    const countOf = (catalog: string, column: string, table: string) =>
      stores.count(catalog, `${column} = $1::regclass`, [table]);
    for (const parent of PARENTS) {
      for (const partition of await partitionsOf(parent)) {
        expect(await countOf('pg_index', 'indrelid', partition)).toBe(
          await countOf('pg_index', 'indrelid', parent),
        );
        expect(await countOf('pg_constraint', 'conrelid', partition)).toBe(
          await countOf('pg_constraint', 'conrelid', parent),
        );
      }
    }
  });
});

describe('Dropping old events', () => {
  it('drops months that ended long enough ago and contain nothing that is due', async () => {
    for (const months of [-2, -3, -4, -5]) await makeMonth(months);
    const begin = monthAhead(-4).getTime();
    for (const edge of [begin, begin - 1])
      await stores.ask(
        `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at) VALUES ($1, 'webhook', 'lane', 'ready', now())`,
        [newUuid(edge)],
      );
    // An email that was accepted in a month does not keep its events.
    await stores.ask(
      `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at) VALUES ($1, 'email', 'lane', 'waiting', now())`,
      [newUuid(monthAhead(-3).getTime())],
    );
    const daysSince = Math.floor((Date.now() - monthAhead(-2).getTime()) / 86_400_000);
    expect(await upkeep.dropOldEvents(daysSince - 1, 30, 400)).toBe(3);
    expect(await upkeep.dropOldEvents(daysSince - 1, 30, 400)).toBe(0);
    for (const parent of TOLD) {
      const left = await partitionsOf(parent);
      expect(left).toContain(nameOf(parent, -2));
      expect(left).not.toContain(nameOf(parent, -3));
      expect(left).toContain(nameOf(parent, -4));
      expect(left).toContain(nameOf(parent, -5));
    }
    await stores.ask('DELETE FROM outbox');
    expect(await upkeep.dropOldEvents(daysSince - 1, 30, 400)).toBe(3);
    expect(await upkeep.dropOldEvents(daysSince - 1, 30, 400)).toBe(3);
    expect(await upkeep.dropOldEvents(daysSince - 1, 30, 400)).toBe(0);
  });

  it('drops one month at a time, and waits for readers at most half a second', async () => {
    for (const months of [-8, -9]) await makeMonth(months);
    const reader = await stores.database.pool.connect();
    // Without a limit, it would wait for ever.
    const patient = new TestStores(stores.url, 1);
    Object.assign(patient.database.pool.options, { lock_timeout: 0 });
    try {
      await reader.query('BEGIN');
      await reader.query('SELECT FROM events LIMIT 1');
      await expect(new UpkeepStore(patient.database).dropOldEvents(90, 30, 400)).rejects.toMatchObject({
        code: '55P03',
      });
      const sql = `SELECT 'lock_timeout=500ms' = ANY (proconfig) AS "isBrief" FROM pg_proc WHERE proname = 'drop_old_events'`;
      expect(await stores.ask(sql)).toEqual([{ isBrief: true }]);
    } finally {
      await reader.query('ROLLBACK');
      reader.release();
      await patient.close();
    }
    expect(await upkeep.dropOldEvents(90, 30, 400)).toBe(3);
    expect(await partitionsOf('events')).toContain(nameOf('events', -8));
    expect(await upkeep.dropOldEvents(90, 30, 400)).toBe(3);
    expect(await upkeep.dropOldEvents(90, 30, 400)).toBe(0);
  });

  it('W10: keeps a month in which a delivery was exhausted late for 30 days after that, but not for ever', async () => {
    await makeMonth(-5);
    const late = newUuid(monthAhead(-5).getTime() + 1_000);
    await stores.ask(
      `INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id, status, finished_at)
       VALUES ($1, $1, $1, $1, 'EXHAUSTED', now() - interval '29 days')`,
      [late],
    );
    expect(await upkeep.dropOldEvents(90, 30, 400)).toBe(0);
    expect(await partitionsOf('webhook_deliveries')).toContain(nameOf('webhook_deliveries', -5));
    await stores.ask(`UPDATE webhook_deliveries SET finished_at = now() - interval '31 days' WHERE id = $1`, [
      late,
    ]);
    expect(await upkeep.dropOldEvents(90, 32, 100)).toBe(3);
  });

  it('finds exhausted deliveries by their index, however many deliveries a month has', async () => {
    await makeMonth(-6);
    await stores.ask(
      `INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id, status, finished_at)
       SELECT new_uuid_v7($1), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'SUCCEEDED', now()
       FROM   generate_series(1, 20000)`,
      [monthAhead(-6)],
    );
    const text = 'SELECT is_month_needed($1, 30, 400)';
    const plan = await executedPlan(stores.database.pool, { text, values: [dayOf(-6)] });
    expect(pagesTouched(plan)).toBeLessThan(200);
    expect(await upkeep.dropOldEvents(90, 30, 400)).toBe(3);
  });
});

describe('A partition', () => {
  it('of emails has room for the update that each of its rows gets', async () => {
    for (const name of await partitionsOf('emails')) {
      const options = 'SELECT unnest(reloptions) AS option FROM pg_class WHERE oid = $1::regclass';
      expect((await stores.ask<{ option: string }>(options, [name])).map(({ option }) => option)).toContain(
        'fillfactor=70',
      );
    }
  });

  it('contains the emails of its month, from the first millisecond to the last', async () => {
    const acme = await stores.openWorkspace();
    const [start, end] = [monthAhead(1).getTime(), monthAhead(2).getTime()];
    const moments: [number, number][] = [
      [start - 1, 0],
      [start, 1],
      [end - 1, 1],
      [end, 2],
    ];
    for (const [moment, months] of moments) {
      const id = idFromUuid('trs', newUuid(moment));
      await stores.accept([rawEmail(acme, { id })], null);
      for (const [parent, key] of [
        ['emails', 'id'],
        ['email_contents', 'email_id'],
      ] as const) {
        const [row] = await stores.ask(
          `SELECT tableoid::regclass::text AS partition FROM ${parent} WHERE ${key} = $1`,
          [uuidOf(id)],
        );
        expect(row).toEqual({ partition: nameOf(parent, months) });
      }
    }
  });

  it('that is missing makes the database unavailable to what belongs to it, until it is made', async () => {
    const acme = await stores.openWorkspace();
    const id = idFromUuid('trs', newUuid(monthAhead(30).getTime()));
    const accept = () => stores.accept([rawEmail(acme, { id })]);
    expect(faultOf(await accept().catch((error: unknown) => error))).toBe('unavailable');
    await upkeep.makePartitions(30);
    await accept();
  });

  it('has its bounds in UTC, whatever the time zone of the session that created it', async () => {
    const other = await createTestDatabase();
    const url = new URL(other.url);
    url.searchParams.set('options', '-c timezone=America/Los_Angeles');
    const far = new TestStores(url.href, 1);
    await new UpkeepStore(far.database).makePartitions(4);
    const [row] = await far.ask<{ bounds: string }>(
      `SELECT pg_get_expr(relpartbound, oid) AS bounds FROM pg_class WHERE oid = $1::regclass`,
      [nameOf('emails', 4)],
    );
    await far.close();
    await other.drop();
    const floor = (months: number) => `${monthAhead(months).getTime().toString(16).padStart(12, '0')}`;
    const bounds = [...row!.bounds.matchAll(/'([^']+)'/g)].map(([, bound]) => bound!.replaceAll('-', ''));
    expect(bounds).toEqual([floor(4), floor(5)].map((hex) => hex.padEnd(32, '0')));
  });
});

describe('The smallest id of a time', () => {
  it.each([
    ['1970-01-01T00:00:00Z', '00000000-0000-0000-0000-000000000000'],
    ['1970-01-01T00:00:00.001Z', '00000000-0001-0000-0000-000000000000'],
    ['2026-11-21T10:00:00.123Z', '01a1fd8c-697b-0000-0000-000000000000'],
    ['9999-12-31T23:59:59.999Z', 'e677d21f-dbff-0000-0000-000000000000'],
  ])('of %s is %s', async (moment, floor) => {
    const [row] = await stores.ask('SELECT uuid_v7_floor($1::timestamptz)::text AS floor', [moment]);
    expect(row).toEqual({ floor });
  });

  it('is not greater than any id of that millisecond, and greater than every id of the one before', async () => {
    const moment = Date.UTC(2027, 0, 1);
    for (let n = 0; n < 20; n += 1) {
      const [row] = await stores.ask(
        'SELECT uuid_v7_floor($1) <= $2::uuid AS "reaches", uuid_v7_floor($1) > $3::uuid AS "exceeds"',
        [new Date(moment), newUuid(moment), newUuid(moment - 1)],
      );
      expect(row).toEqual({ reaches: true, exceeds: true });
    }
  });

  it('ignores fractions of a millisecond', async () => {
    const floorOf = async (moment: string) =>
      (await stores.ask('SELECT uuid_v7_floor($1::timestamptz)::text AS floor', [moment]))[0];
    expect(await floorOf('2026-11-21 10:00:00.123999Z')).toEqual(await floorOf('2026-11-21 10:00:00.123Z'));
  });
});
