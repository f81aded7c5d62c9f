import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Page } from '@posthorn/domain';
import type { Answer } from '../api.ts';
import { call, type Caller, type DescribedRoute, idsOf, ROUTES } from '../openapi-routes.ts';
import { make } from '../factories.ts';
import { Stack } from '../stack.ts';
import { SEED } from './explore.ts';

const RUNS = 3;
const WITHIN_MS = 3_000;
const MAX_PAGES = 100;

interface Item {
  readonly id?: string;
  readonly version?: number;
  readonly createdAt: string;
}

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

/** The lists that are ordered by time; the feed of events has its own order and spec. */
const LISTS = ROUTES.filter(({ parameters }) =>
  ['startAt', 'sort'].every((wanted) => parameters.some(({ name }) => name === wanted)),
);
/** Adds one item to a list whose items cannot be made as things with an id are. */
const ADDERS: Readonly<Record<string, (list: ListUnderTest) => Promise<unknown>>> = {
  // Adding a domain would wait for the generation of its keys.
  '/v1/identities': ({ caller: { api } }) =>
    api.post('/v1/identities', { address: `${crypto.randomUUID()}@example.net` }),
  '/v1/audit-log': ({ caller }) => make('aki', caller),
  '/v1/templates/{template_id}/versions': ({ caller, parts }) =>
    caller.api.post(`/v1/templates/${parts['template_id']}`, { subject: crypto.randomUUID() }),
};

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.start({ sends: false, env: { RATE_LIMIT_PER_SECOND: '0' } });
});
afterAll(() => stack.close());

/** A list of a separate workspace. */
class ListUnderTest {
  private constructor(
    readonly route: DescribedRoute,
    readonly caller: Caller,
    readonly parts: Readonly<Record<string, string>>,
  ) {}

  static async of(route: DescribedRoute): Promise<ListUnderTest> {
    const tenant = await stack.createTenant('Pages');
    const caller = { stack, tenant, api: stack.apiAs(tenant.keys.editor) };
    const parts: Record<string, string> = {};
    for (const { name, prefix } of idsOf(route)) parts[name] = await make(prefix, caller);
    return new ListUnderTest(route, caller, parts);
  }

  add(): Promise<unknown> {
    const adder = ADDERS[this.route.path];
    if (adder !== undefined) return adder(this);
    const one = ROUTES.find(({ path }) => path.startsWith(`${this.route.path}/{`));
    if (one === undefined) throw new Error(`nothing adds to ${this.route.path}: add a line to ADDERS`);
    return make(idsOf(one).at(-1)!.prefix, this.caller);
  }

  /** Deletes an item, where items of the list can be deleted. @returns whether it did */
  async delete(id: string): Promise<boolean> {
    const deletion = ROUTES.find(
      ({ method, path }) =>
        method === 'DELETE' && path.startsWith(`${this.route.path}/{`) && path.endsWith('}'),
    );
    if (deletion === undefined) return false;
    const answer = await call(deletion, this.caller, { ...this.parts, [idsOf(deletion).at(-1)!.name]: id });
    return answer.status === 200;
  }

  async page(query: Readonly<Record<string, string | number>>): Promise<Page<Item>> {
    const text = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const asked = { ...this.route, path: `${this.route.path}?${text.toString()}` };
    return pageIn(await call(asked, this.caller, this.parts));
  }
}

function pageIn(answer: Answer): Page<Item> {
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return Object.values(answer.body)[0] as Page<Item>;
}

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
    fc.assert(
      fc.asyncProperty(WALKS, async (wanted) => {
        const list = await ListUnderTest.of(route);
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
      }),
      { seed: SEED, numRuns: RUNS, interruptAfterTimeLimit: WITHIN_MS },
    ));
});
