import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DOCUMENT } from '../../apps/gateway/src/openapi/document.fixture.ts';
import { Api } from './api.ts';
import { bodiesOf, call, type Caller, faultsOf, idsOf, queryOf, ROUTES } from './described.ts';
import { make } from './makers.ts';
import { Stack } from './stack.ts';

/** What must be there before a route takes its examples, beside what the ids of its path stand for. */
const PREREQUISITES: Readonly<Record<string, (caller: Caller) => Promise<unknown>>> = {};

/** What in an example cannot be the same for ever, such as a time that must be near. */
const CHANGES: Readonly<Record<string, object>> = {};

describe('the document', () => {
  let stack: Stack;
  let tenants = 0;
  beforeAll(async () => {
    stack = await Stack.start({ sends: false });
  });
  afterAll(() => stack.close());

  /** A workspace of its own for each call, so that none stands in another's way. */
  async function newCaller(): Promise<Caller> {
    const tenant = await stack.createTenant(`Caller ${(tenants += 1)}`);
    return { tenant, api: new Api(stack.gateways[0]!.url, tenant.keys.editor) };
  }

  it('is the one that the gateway serves', async () => {
    const { body } = await stack.api().get('/openapi.json', { key: null });
    expect(Object.keys(body['paths'] as object)).toEqual(Object.keys(DOCUMENT.paths));
  });

  describe.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s',
    (_, route) => {
      const { operationId } = route;

      async function prepared(): Promise<[Caller, Record<string, string>]> {
        const caller = await newCaller();
        await PREREQUISITES[operationId]?.(caller);
        const parts: Record<string, string> = {};
        for (const { name, prefix } of idsOf(route)) parts[name] = await make(prefix, caller);
        return [caller, parts];
      }

      it.each(bodiesOf(route))('takes %s, and answers as it is described', async (_name, example) => {
        const [caller, parts] = await prepared();
        const body = example === undefined ? undefined : { ...(example as object), ...CHANGES[operationId] };
        const answer = await call(route, caller, parts, body);
        expect([answer.status, answer.text]).toEqual([200, expect.anything()]);
        expect(faultsOf(route, answer)).toEqual([]);
      });

      const query = queryOf(route);
      if (query === '') return;
      it(`takes ?${query}`, async () => {
        const [caller, parts] = await prepared();
        const answer = await call({ ...route, path: `${route.path}?${query}` }, caller, parts);
        expect([answer.status, faultsOf(route, answer)]).toEqual([200, []]);
      });
    },
  );
});
