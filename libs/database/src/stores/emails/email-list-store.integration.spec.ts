import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sleep, timeOf, uuidOf } from '@posthorn/kernel';
import { parseOpaqueStart, type Sort, SORTS } from '@posthorn/domain';
import { rawEmail } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { crowdEmails } from '../../sql/crowded-emails.fixture.ts';
import { countEmailsByDay } from '../../sql/email-counts.ts';
import { type EmailFilter, listEmails } from '../../sql/email-list.ts';
import { executedPlan, indexesRead, pagesTouched } from '../../sql/plan.fixture.ts';
import { SEARCH_BOUNDS } from '../bounded-search.ts';
import { EmailListStore } from './email-list-store.ts';
import { EmailCountsStore } from './email-counts-store.ts';
import type { EmailSummary } from './email-record.ts';

const DAY_MS = 86_400_000;
const COUNT = 100_000;

const stores = await openTestStores(4);
const acme = await stores.openWorkspace();

/** Of a month of which no more has emails, there are so few that every index is as good. */
const FEW_MS = 2 * DAY_MS;
const [begun, ended] = sixtyDays();

beforeAll(async () => {
  await crowdEmails(stores.url, acme, { count: COUNT, from: begun, to: ended });
  await crowdEmails(stores.url, await stores.openWorkspace(), { count: 20_000, from: begun, to: ended });
});

/** The last sixty days, or a few more or less, so that no month has few emails, whatever day it is. */
function sixtyDays(): [Date, Date] {
  const now = new Date();
  const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  const end = now.getTime() - month < FEW_MS ? month - 1 : now.getTime();
  const [first, later] = [end - 60 * DAY_MS, end - 60 * DAY_MS + FEW_MS].map((ms) => new Date(ms));
  const start = monthOf(first!) === monthOf(later!) ? first!.getTime() : first!.getTime() - FEW_MS;
  return [new Date(start), new Date(end)];
}

/** Reads all pages, like a caller. */
async function readAll(
  store: EmailListStore,
  filter: EmailFilter,
  { limit = 100, sort = 'createdAt.desc' }: { limit?: number; sort?: Sort } = {},
): Promise<{ items: EmailSummary[]; sizes: number[] }> {
  const items: EmailSummary[] = [];
  const sizes: number[] = [];
  for (let startAt: string | null | undefined; startAt !== null;) {
    const start = startAt === undefined ? undefined : parseOpaqueStart('trs', startAt);
    const page = await store.list(acme, { limit, sort, startAt: start }, filter);
    expect(page.hasMore).toBe(page.startAt !== null);
    items.push(...page.items);
    sizes.push(page.items.length);
    startAt = page.startAt;
  }
  return { items, sizes };
}

/** The month as in the names of partitions. */
function monthOf(moment: Date): string {
  return moment.toISOString().slice(0, 7).replace('-', '_');
}

/** The number of emails that match a filter, counted by a full scan. */
function countOf(where: string, values: unknown[] = []): Promise<number> {
  return stores.count(
    'emails',
    `workspace_id = (SELECT id FROM workspaces WHERE name = 'Acme' ORDER BY id LIMIT 1) AND ${where}`,
    values,
  );
}

describe('A list of emails', () => {
  const day = (n: number): Date => new Date(begun.getTime() + n * DAY_MS);

  it.each<[string, () => EmailFilter, () => Promise<number>]>([
    ['a recipient', () => ({ to: 'user7@example.net' }), () => countOf(`to_address = 'user7@example.net'`)],
    ['a rare status', () => ({ status: 'FAILED' }), () => countOf(`status = 'FAILED'`)],
    ['scheduled emails', () => ({ status: 'SCHEDULED' }), () => countOf(`status = 'SCHEDULED'`)],
    ['a group', () => ({ groupBy: 'order-6' }), () => countOf(`group_by = 'order-6'`)],
    [
      'a template and a time',
      () => ({ template: 'welcome', createdAfter: day(10), createdBefore: day(11) }),
      () =>
        countOf(`template_name = 'welcome' AND accepted_at >= $1 AND accepted_at < $2`, [day(10), day(11)]),
    ],
    [
      'a common status and a time',
      () => ({ status: 'SENT', createdAfter: day(59) }),
      () => countOf(`status = 'SENT' AND accepted_at >= $1`, [day(59)]),
    ],
    [
      'a large group and a rare status',
      () => ({ groupBy: 'many', status: 'SCHEDULED' }),
      () => countOf(`group_by = 'many' AND status = 'SCHEDULED'`),
    ],
    [
      'everything at once',
      () => ({ to: 'user3@example.net', template: 'welcome', status: 'BOUNCED', createdBefore: day(30) }),
      () =>
        countOf(`to_address = 'user3@example.net' AND status = 'BOUNCED' AND accepted_at < $1`, [day(30)]),
    ],
  ])(
    'S18, G10: has each email of %s once, in both orders, however it is cut into pages',
    async (_what, filter, count) => {
      const store = new EmailListStore(stores.database);
      const expected = await count();
      expect(expected).toBeGreaterThan(0);
      const reads = await Promise.all(SORTS.map((sort) => readAll(store, filter(), { sort, limit: 37 })));
      const [newest, oldest] = reads.map(({ items }) => items.map(({ id }) => id));
      expect(newest).toHaveLength(expected);
      expect(new Set(newest).size).toBe(expected);
      expect(newest).toEqual([...newest!].sort().reverse());
      expect(oldest).toEqual([...newest!].reverse());
    },
  );

  it('S18: shows the fields of each email', async () => {
    const globex = await stores.openWorkspace();
    const email = rawEmail(globex, {
      groupBy: 'g',
      sendAt: new Date(Date.now() + DAY_MS),
      status: 'SCHEDULED',
    });
    await stores.accept([email]);
    const page = await new EmailListStore(stores.database).list(
      globex,
      { limit: 5, sort: 'createdAt.desc' },
      {},
    );
    const { id, type, status, subject, messageId, groupBy, sendAt, acceptedAt } = email as typeof email & {
      subject: string;
    };
    const shown = { id, type, status, subject, messageId, groupBy, sendAt, acceptedAt };
    const others = { from: email.from.address, to: email.to.address, template: null, sentAt: null };
    expect(page).toEqual({ items: [{ ...shown, ...others }], hasMore: false, startAt: null });
    expect(timeOf(id)).toBe(acceptedAt.getTime());
  });

  it('S18, G3: of another workspace is empty', async () => {
    const store = new EmailListStore(stores.database);
    const nobody = await stores.openWorkspace();
    const page = { limit: 100, sort: 'createdAt.desc' as const };
    expect(await store.list(nobody, page, { to: 'user7@example.net' })).toEqual({
      items: [],
      hasMore: false,
      startAt: null,
    });
  });
});

describe('A search for rare emails', () => {
  const few: EmailFilter = { groupBy: 'many', to: 'user5@example.net', status: 'FAILED' };
  const scarce: EmailFilter = { status: 'DELIVERED' };

  it('S18, G10: ends its page when its time is over, and goes on in the next page', async () => {
    const hasty = new EmailListStore(stores.database, { rowsPerStatement: 1_000, maxMs: 0, maxAtOnce: 2 });
    const { items, sizes } = await readAll(hasty, { groupBy: 'many', status: 'CANCELLED' });
    expect(items).toHaveLength(await countOf(`group_by = 'many' AND status = 'CANCELLED'`));
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
    expect(sizes.length).toBeGreaterThanOrEqual(20);
  });

  it.each([2, 3, 7])(
    'S18, G10: loses and repeats nothing when %i emails are looked at at a time',
    async (rowsPerStatement) => {
      const store = new EmailListStore(stores.database, { rowsPerStatement, maxMs: 60_000, maxAtOnce: 2 });
      const filter: EmailFilter = { to: 'user5@example.net', status: 'SENT' };
      const expected = await countOf(`to_address = 'user5@example.net' AND status = 'SENT'`);
      const { items } = await readAll(store, filter, { limit: 3 });
      expect(items).toHaveLength(expected);
      const { items: again } = await readAll(store, filter, { limit: 3, sort: 'createdAt.asc' });
      expect(again).toEqual([...items].reverse());
    },
  );

  it('S18: does not go beyond its first statement while another search does', async () => {
    const bounds = { rowsPerStatement: 200, maxMs: 60_000, maxAtOnce: 1 };
    const store = new EmailListStore(stores.database, bounds);
    const page = { limit: 100, sort: 'createdAt.desc' as const };
    const { pool } = stores.database;
    const query = pool.query.bind(pool) as (...call: unknown[]) => Promise<unknown>;
    const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>();
    // The third statement is still one of the first search: it goes on once the others have ended.
    const asked = jest.spyOn(pool, 'query') as unknown as jest.Mock<typeof query>;
    asked.mockImplementation(async (...call) => {
      if (asked.mock.calls.length === 3) await goesOn;
      return query(...call);
    });
    const first = store.list(acme, page, scarce);
    while (asked.mock.calls.length < 3) await sleep(1);
    const others = await Promise.all([1, 2].map(() => store.list(acme, page, scarce)));
    asked.mockRestore();
    goOn();
    expect(others.map(({ items, hasMore }) => [items, hasMore])).toEqual([
      [[], true],
      [[], true],
    ]);
    expect(await first).toMatchObject({ items: [], hasMore: false });
  });

  it('S18: searches a hundred thousand emails in at most eleven statements', async () => {
    const store = new EmailListStore(stores.database, { ...SEARCH_BOUNDS, maxMs: 60_000 });
    const page = { limit: 100, sort: 'createdAt.desc' as const };
    const asked = jest.spyOn(stores.database.pool, 'query');
    expect(await store.list(acme, page, scarce)).toEqual({ items: [], hasMore: false, startAt: null });
    expect(asked.mock.calls.length).toBeLessThanOrEqual(11);
    expect((await store.list(acme, page, few)).hasMore).toBe(false);
    asked.mockRestore();
  });
});

/** Where there are none, every index is as good. */
function hasEmails(index: string): boolean {
  const month = /^emails_(\d{4}_\d{2})/.exec(index)![1]!;
  return [begun, ended].map(monthOf).every((bound, n) => (n === 0 ? month >= bound : month <= bound));
}

describe('The plan of a list', () => {
  const window = { sort: 'createdAt.desc' as const, start: undefined, maxSeen: 10_000, maxGiven: 51 };
  /** A page of 51 emails reads about four pages of the table and its indexes for each email. */
  const MAX_PAGES = 500;

  it.each<[string, EmailFilter, RegExp]>([
    ['no filter', {}, /workspace_id_id_status/],
    ['a recipient', { to: 'user7@example.net' }, /workspace_id_to_address_id/],
    ['a template', { template: 'welcome' }, /workspace_id_template_name_id/],
    ['a group', { groupBy: 'many' }, /workspace_id_group_by_id_status/],
    ['a rare status', { status: 'BOUNCED' }, /workspace_id_id_status/],
    ['scheduled', { status: 'SCHEDULED' }, /workspace_id_id_idx/],
    ['a group and scheduled', { groupBy: 'many', status: 'SCHEDULED' }, /workspace_id_id_idx/],
    [
      'a recipient and scheduled',
      { to: 'user7@example.net', status: 'SCHEDULED' },
      /workspace_id_to_address_id/,
    ],
    ['a common status', { status: 'SENT' }, /workspace_id_id_status/],
    ['a group and a common status', { groupBy: 'many', status: 'SENT' }, /workspace_id_group_by_id_status/],
    [
      'a recipient and a status',
      { to: 'user7@example.net', status: 'BOUNCED' },
      /workspace_id_to_address_id/,
    ],
  ])('S18: by %s reads its index from the position of the page', async (_what, filter, index) => {
    const plan = await executedPlan(stores.database.pool, listEmails(acme, window, filter));
    const read = indexesRead(plan).filter((name) => !name.endsWith('_pkey') && hasEmails(name));
    expect(read.length).toBeGreaterThan(0);
    for (const name of read) expect(name).toMatch(index);
    expect(plan.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
    expect(pagesTouched(plan)).toBeLessThan(MAX_PAGES);
  });

  it.each<[string, EmailFilter]>([
    ['a status that none has', { status: 'DELIVERED' }],
    ['a group and a status that none has', { groupBy: 'many', status: 'DELIVERED' }],
  ])('S18: by %s reads only the index, up to a limit', async (_what, filter) => {
    const plan = await executedPlan(stores.database.pool, listEmails(acme, window, filter));
    expect(plan.some((node) => node['Node Type'] === 'Index Only Scan')).toBe(true);
    expect(pagesTouched(plan)).toBeLessThan(MAX_PAGES);
  });

  it('S18: by time reads only the months of that time', async () => {
    const noon = Date.UTC(begun.getUTCFullYear(), begun.getUTCMonth() + 1, 10, 12);
    const filter = { createdAfter: new Date(noon), createdBefore: new Date(noon + DAY_MS) };
    const plan = await executedPlan(stores.database.pool, listEmails(acme, window, filter));
    const month = monthOf(new Date(noon));
    expect(indexesRead(plan).length).toBeGreaterThan(0);
    for (const name of indexesRead(plan)) expect(name).toContain(`emails_${month}`);
  });
});

describe('Counts of emails', () => {
  const midnight = (ms: number): Date => new Date(Math.floor(ms / DAY_MS) * DAY_MS);

  it.each([undefined, 'many'])(
    'E18: are what there is of each day and status, of the group %s',
    async (groupBy) => {
      const store = new EmailCountsStore(stores.database);
      const [firstDay, lastDay] = [midnight(begun.getTime()), midnight(Date.now())];
      const counts = await store.count({ workspaceId: acme, groupBy, firstDay, lastDay });
      const counted = await stores.ask(
        `SELECT to_char(accepted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, status, count(*)::int AS count
       FROM   emails WHERE workspace_id = $1 AND ($2::text IS NULL OR group_by = $2) AND accepted_at >= $3 GROUP BY 1, 2`,
        [uuidOf(acme), groupBy ?? null, firstDay],
      );
      const inOrder = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).sort();
      expect(inOrder(counts)).toEqual(inOrder(counted));
    },
  );

  it('E18: are taken of fewer days at a time where a statement times out', async () => {
    const fortnight = {
      workspaceId: acme,
      groupBy: undefined,
      firstDay: midnight(begun.getTime()),
      lastDay: midnight(begun.getTime() + 13 * DAY_MS),
    };
    const counts = await new EmailCountsStore(stores.database).count(fortnight);
    // A statement that counts more than four days, which have five bounds, runs out of time, as for a workspace with millions of emails a day.
    await stores.ask('ALTER FUNCTION uuid_v7_floor RENAME TO quick_floor');
    await stores.ask(
      `CREATE FUNCTION uuid_v7_floor(moment timestamptz) RETURNS uuid LANGUAGE plpgsql IMMUTABLE STRICT AS $$
       DECLARE
         known text[] := string_to_array(current_setting('test.bounds', true), ',');
         begun text := extract(epoch FROM statement_timestamp())::text;
         bound text := extract(epoch FROM moment)::text;
       BEGIN
         IF known[1] IS DISTINCT FROM begun THEN known := ARRAY[begun]; END IF;
         IF bound <> ALL (known) THEN known := known || bound; END IF;
         PERFORM set_config('test.bounds', array_to_string(known, ','), false);
         IF cardinality(known) > 1 + 5 THEN
           RAISE query_canceled USING MESSAGE = 'canceling statement due to statement timeout';
         END IF;
         RETURN quick_floor(moment);
       END $$`,
    );
    try {
      expect(await new EmailCountsStore(stores.database).count(fortnight)).toEqual(counts);
    } finally {
      await stores.ask('DROP FUNCTION uuid_v7_floor');
      await stores.ask('ALTER FUNCTION quick_floor RENAME TO uuid_v7_floor');
    }
  });

  it.each([
    [undefined, /workspace_id_id_status/],
    ['many', /workspace_id_group_by_id_status/],
  ])('E18: read only the index, not the emails: of the group %s', async (groupBy, index) => {
    const days = [begun.getTime() + 10 * DAY_MS, begun.getTime() + 16 * DAY_MS].map((ms) => new Date(ms));
    const [from, to] = days.map((day) => day.toISOString().slice(0, 10));
    const values = [uuidOf(acme), from, to, groupBy ?? null];
    const text = countEmailsByDay(groupBy !== undefined);
    const plan = await executedPlan(stores.database.pool, { text, values });
    const read = indexesRead(plan).filter(hasEmails);
    expect(read.length).toBeGreaterThan(0);
    for (const name of read) expect(name).toMatch(index);
    expect(pagesTouched(plan)).toBeLessThan(500);
  });
});
