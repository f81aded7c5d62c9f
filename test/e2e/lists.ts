import type { Page } from '@posthorn/domain';
import type { Answer } from './api.ts';
import { make } from './factories.ts';
import { call, type Caller, type DescribedRoute, idsOf, ROUTES } from './openapi-routes.ts';
import type { Stack } from './stack.ts';

/** What the tests read of an item of a list. */
export interface Item {
  readonly id?: string;
  readonly version?: number;
  readonly createdAt: string;
}

/** The lists that are ordered by time; the feed of events has its own order and spec. */
export const LISTS = ROUTES.filter(({ parameters }) =>
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

/** A list of a separate workspace. */
export class ListUnderTest {
  private constructor(
    readonly route: DescribedRoute,
    readonly caller: Caller,
    readonly parts: Readonly<Record<string, string>>,
  ) {}

  static async of(route: DescribedRoute, stack: Stack): Promise<ListUnderTest> {
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
