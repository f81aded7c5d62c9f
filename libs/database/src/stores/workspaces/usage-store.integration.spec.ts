import { describe, expect, it, jest } from '@jest/globals';
import { uuidOf } from '@posthorn/kernel';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { UsageStore } from './usage-store.ts';

const MONTH = new Date('2030-01-01');

const stores = await openTestStores();
const usage = new UsageStore(stores.database);
const workspaces = [
  await stores.openWorkspace(),
  await stores.openWorkspace(),
  await stores.openWorkspace(),
] as const;

/** The texts of the statements that reading the usage of these workspaces at the same moment sends. */
async function statementsFor(...numbers: (0 | 1 | 2)[]): Promise<Set<string>> {
  const asked = jest.spyOn(stores.database.pool, 'query');
  try {
    await Promise.all(numbers.map((n) => usage.read(workspaces[n], MONTH)));
    return new Set(asked.mock.calls.map(([query]) => (query as unknown as { text: string }).text));
  } finally {
    asked.mockRestore();
  }
}

describe('The highest share of a monthly limit', () => {
  const own = (n: 0 | 1 | 2, limit: number | null): Promise<unknown> =>
    stores.ask('UPDATE workspaces SET monthly_email_limit = $2 WHERE id = $1', [
      uuidOf(workspaces[n]),
      limit,
    ]);
  /** @param judgedBy the limit by which its last emails were accepted; null: none */
  const use = (n: 0 | 1 | 2, accepted: number, judgedBy: number | null, months = 0): Promise<unknown> =>
    stores.ask(
      `INSERT INTO usage (workspace_id, month, accepted, granted, monthly_limit)
       VALUES ($1, date_trunc('month', now() AT TIME ZONE 'UTC') - make_interval(months => $4), $2, 1, $3)`,
      [uuidOf(workspaces[n]), accepted, judgedBy, months],
    );

  it('is that of this month, of workspaces with a limit: their own, or else the one that they were last judged by', async () => {
    await use(0, 1_000, 1_000, 1);
    await use(1, 1_000, null);
    expect(await usage.highestShare()).toBe(0);
    await use(0, 850, 1_000);
    await use(2, 30, 100);
    expect(await usage.highestShare()).toBe(0.85);
    // Before its next email.
    await own(0, 10_000);
    expect(await usage.highestShare()).toBe(0.3);
    await own(2, 0);
    expect(await usage.highestShare()).toBe(0.085);
    await own(1, 500);
    expect(await usage.highestShare()).toBe(2);
  });
});

describe('The usage of a workspace', () => {
  it('is read by the same statements whoever else reads at that moment, because the plan of each is kept', async () => {
    const alone = await statementsFor(0);
    expect(await statementsFor(0, 1)).toEqual(alone);
    expect(await statementsFor(0, 1, 0)).toEqual(alone);
    expect(await statementsFor(2, 2, 1, 0)).toEqual(alone);
  });
});
