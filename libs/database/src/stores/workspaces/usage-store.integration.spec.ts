import { describe, expect, it, jest } from '@jest/globals';
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

describe('The usage of a workspace', () => {
  it('is read by the same statements whoever else reads at that moment, because the plan of each is kept', async () => {
    const alone = await statementsFor(0);
    expect(await statementsFor(0, 1)).toEqual(alone);
    expect(await statementsFor(0, 1, 0)).toEqual(alone);
    expect(await statementsFor(2, 2, 1, 0)).toEqual(alone);
  });
});
