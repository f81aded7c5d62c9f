import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId, type WorkspaceId } from '@posthorn/kernel';
import { parseOpaqueStart } from '@posthorn/domain';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { crowdEmails } from '../../sql/crowded-emails.fixture.ts';
import type { EmailFilter } from '../../sql/email-list.ts';
import { searchEmails } from '../../sql/email-search.ts';
import { executedPlan, indexesRead, pagesTouched } from '../../sql/plan.fixture.ts';
import { EmailSearchStore, type FoundEmail } from './email-search-store.ts';

const DAY_MS = 86_400_000;
const RECIPIENT = 'user7@example.net';

const stores = await openTestStores(4);
const workspaces: WorkspaceId[] = [];

beforeAll(async () => {
  const time = { from: new Date(Date.now() - 45 * DAY_MS), to: new Date() };
  for (let n = 0; n < 3; n += 1) {
    workspaces.push(await stores.openWorkspace());
    await crowdEmails(stores.url, workspaces[n]!, { count: 20_000, ...time });
  }
});

async function readAll(store: EmailSearchStore, filter: EmailFilter, limit: number): Promise<FoundEmail[]> {
  const found: FoundEmail[] = [];
  for (let startAt: string | null | undefined; startAt !== null;) {
    const start = startAt === undefined ? undefined : parseOpaqueStart('trs', startAt);
    const page = await store.list({ limit, sort: 'createdAt.desc', startAt: start }, filter);
    found.push(...page.items);
    startAt = page.startAt;
  }
  return found;
}

describe('A search in all workspaces', () => {
  it.each<[string, EmailFilter, string]>([
    ['a recipient', { to: RECIPIENT }, `to_address = '${RECIPIENT}'`],
    [
      'a recipient and a status',
      { to: RECIPIENT, status: 'BOUNCED' },
      `to_address = '${RECIPIENT}' AND status = 'BOUNCED'`,
    ],
    ['a group', { groupBy: 'order-6' }, `group_by = 'order-6'`],
    ['a rare status', { status: 'FAILED' }, `status = 'FAILED'`],
    ['scheduled emails', { status: 'SCHEDULED' }, `status = 'SCHEDULED'`],
    [
      'a recipient whose emails have not left',
      { to: 'user100@example.net', hasNotLeft: true },
      `to_address = 'user100@example.net' AND status = 'SENT' AND sent_at IS NULL`,
    ],
    [
      'a group and scheduled emails',
      { groupBy: 'many', status: 'SCHEDULED' },
      `group_by = 'many' AND status = 'SCHEDULED'`,
    ],
  ])('returns each email of %s once, newest first, whatever the page size', async (_what, filter, where) => {
    const expected = await stores.count('emails', where);
    expect(expected).toBeGreaterThan(3);
    const hasty = { rowsPerStatement: 400, maxMs: 0, maxAtOnce: 1 };
    for (const store of [
      new EmailSearchStore(stores.database),
      new EmailSearchStore(stores.database, hasty),
    ]) {
      const found = await readAll(store, filter, 7);
      const ids = found.map(({ id }) => id);
      expect(ids).toHaveLength(expected);
      expect(ids).toEqual([...new Set(ids)].sort().reverse());
      expect(new Set(found.map(({ workspaceId }) => workspaceId))).toEqual(new Set(workspaces));
    }
  });

  const window = { sort: 'createdAt.desc' as const, start: undefined, maxSeen: 10_000, maxGiven: 51 };

  it.each<[string, EmailFilter, RegExp, number]>([
    ['a recipient', { to: RECIPIENT }, /workspace_id_to_address_id/, 500],
    ['nothing', {}, /pkey/, 500],
    ['scheduled emails', { status: 'SCHEDULED' }, /workspace_id_id_idx/, 1_000],
    ['a rare status, which is looked for in the rows', { status: 'CANCELLED' }, /pkey/, 12_000],
  ])('by %s reads an index from the position of the page', async (_what, filter, index, maxPages) => {
    const plan = await executedPlan(stores.database.pool, searchEmails(window, filter));
    // In a month without emails, every index is equally good.
    expect(indexesRead(plan)).toContainEqual(expect.stringMatching(index));
    expect(plan.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
    expect(pagesTouched(plan)).toBeLessThan(maxPages);
  });

  it('looks up other filters only for the emails that a statement may examine, not for those of each workspace', async () => {
    const [maxSeen, maxGiven] = [40, 11];
    const search = searchEmails({ ...window, maxSeen, maxGiven }, { status: 'SCHEDULED', groupBy: 'many' });
    const plan = await executedPlan(stores.database.pool, search);
    const listed = plan.filter((node) => /workspace_id_id_idx/.test(node['Index Name'] ?? ''));
    expect([...new Set(listed.map((node) => node['Node Type']))]).toEqual(['Index Only Scan']);
    const lookedUp = plan.filter((node) => /^emails_\d{4}_\d{2}_pkey$/.test(node['Index Name'] ?? ''));
    const lookUps = lookedUp.reduce((sum, node) => sum + node['Actual Loops']!, 0);
    expect(lookUps).toBeGreaterThanOrEqual(maxSeen);
    expect(lookUps).toBeLessThanOrEqual(maxSeen + maxGiven);
  });

  it('reads no more scheduled emails of a workspace than a page can have', async () => {
    const [emails, months] = [100, 8];
    const scheduled = searchEmails({ ...window, maxGiven: 11 }, { status: 'SCHEDULED' });
    const plan = await executedPlan(stores.database.pool, scheduled);
    const read = plan.filter((node) => /workspace_id_id_idx/.test(node['Index Name'] ?? ''));
    const rows = read.map((node) => node['Actual Rows']! * node['Actual Loops']!);
    expect(await stores.count('emails', `status = 'SCHEDULED'`)).toBe(emails * workspaces.length);
    // The first one of each month is read in order to merge them.
    expect(rows.reduce((sum, count) => sum + count, 0)).toBeLessThan((11 + months) * workspaces.length);
  });

  it('returns the workspace of each email', async () => {
    const store = new EmailSearchStore(stores.database);
    const [email] = (await store.list({ limit: 1, sort: 'createdAt.desc' }, {})).items;
    expect(await store.workspaceOf(email!.id)).toBe(email!.workspaceId);
    expect(await store.workspaceOf(newId('trs', Date.now()))).toBeUndefined();
  });
});
