import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Page } from '@posthorn/domain';
import { type Item, LISTS, ListUnderTest } from '../lists.ts';
import { Stack } from '../stack.ts';
import { holds, SEED } from './explore.ts';

const RUNS = 3;
const WITHIN_MS = 3_000;
const MAX_PAGES = 100;

/** How a list is read from first to last page, and the changes meanwhile. */
interface Walk {
  readonly sort: 'createdAt.asc' | 'createdAt.desc';
  readonly limit: number;
  readonly atFirst: number;
  /** For each page: how many items are added while it is read, and which of the initial ones are deleted. */
  readonly steps: readonly { readonly adds: number; readonly deletes: readonly number[] }[];
}

const WALKS: fc.Arbitrary<Walk> = fc.record({
  sort: fc.constantFrom('createdAt.asc', 'createdAt.desc'),
  limit: fc.integer({ min: 1, max: 4 }),
  atFirst: fc.integer({ min: 5, max: 12 }),
  steps: fc.array(
    fc.record({ adds: fc.nat({ max: 2 }), deletes: fc.array(fc.nat({ max: 11 }), { maxLength: 2 }) }),
    { minLength: 2, maxLength: 8 },
  ),
});

const stack = Stack.forTests({ sends: false });

const nameOf = ({ id, version }: Item): string => id ?? String(version);
const namesOf = (items: readonly Item[]): string[] => items.map(nameOf);

/** Reads all pages while items are added and deleted. @returns the pages */
async function walk(
  list: ListUnderTest,
  { sort, limit, steps }: Walk,
  deletable: readonly string[],
): Promise<Page<Item>[]> {
  const pages: Page<Item>[] = [];
  const gone = new Set<string>();
  for (let startAt: string | null | undefined; startAt !== null && pages.length < MAX_PAGES;) {
    const goneBefore = [...gone];
    const { adds = 0, deletes = [] } = steps[pages.length] ?? {};
    const victims = [...new Set(deletes.flatMap((index) => deletable[index] ?? []))];
    const [page] = await Promise.all([
      list.page({ limit, sort, ...(startAt === undefined ? {} : { startAt }) }),
      ...Array.from({ length: adds }, () => list.add()),
      ...victims.map(async (id) => (await list.delete(id)) && gone.add(id)),
    ]);
    expect(namesOf(page.items).filter((name) => goneBefore.includes(name))).toEqual([]);
    pages.push(page);
    startAt = page.startAt;
  }
  return pages;
}

/** A page is no longer than it may be, in order, says truly whether there is another, and says it after its items. */
function expectSoundPages(pages: readonly Page<Item>[], { limit, sort }: Walk, isByTime: boolean): void {
  for (const page of pages) {
    const { items, hasMore, startAt } = page;
    expect(Object.keys(page)).toEqual(['items', 'hasMore', 'startAt']);
    expect(hasMore).toBe(startAt !== null);
    const beyond = items.slice(limit);
    const last = items[limit - 1]?.createdAt;
    expect(beyond.filter(({ createdAt }) => !isByTime || createdAt !== last)).toEqual([]);
  }
  const times = pages.flatMap(({ items }) => items.map(({ createdAt }) => createdAt));
  expect(times).toEqual(sort === 'createdAt.asc' ? [...times].sort() : [...times].sort().reverse());
}

describe.each(LISTS.map((route) => [route.path, route] as const))('%s', (path, route) => {
  it(`G10: shows nothing twice, and all items that exist throughout, whatever is added and deleted (seed ${SEED})`, () =>
    holds(
      WALKS,
      async (wanted) => {
        const list = await ListUnderTest.of(route, stack);
        // Initial items of a workspace, such as the caller's key, are never deleted.
        const own = namesOf((await list.page({ limit: 100 })).items);
        await Promise.all(Array.from({ length: wanted.atFirst }, () => list.add()));
        const before = namesOf((await list.page({ limit: 100 })).items);
        const made = before.filter((name) => !own.includes(name));
        const pages = await walk(list, wanted, made);
        const after = namesOf((await list.page({ limit: 100 })).items);
        const shown = pages.flatMap(({ items }) => namesOf(items));
        expect(shown.filter((name, index) => shown.indexOf(name) !== index)).toEqual([]);
        const throughout = before.filter((name) => after.includes(name));
        expect(throughout.length).toBeGreaterThan(0);
        expect(throughout.filter((name) => !shown.includes(name))).toEqual([]);
        expectSoundPages(pages, wanted, /\/(api-keys|webhooks)$/.test(path));
      },
      { runs: RUNS, withinMs: WITHIN_MS },
    ));
});
