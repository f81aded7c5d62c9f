import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import type { Answer } from './api.ts';
import { bodiesOf, call, type Caller, type DescribedRoute, idsOf, ROUTES } from './openapi-routes.ts';
import { make } from './factories.ts';
import { Stack } from './stack.ts';

const CASES = ROUTES.flatMap((route) =>
  idsOf(route).map((id) => [`${route.method} ${route.path}`, id.name, id.prefix, route] as const),
);

describe('G3: an id of another workspace', () => {
  const stack = Stack.forTests({ sends: false });
  let caller: Caller;
  let other: Caller;
  beforeAll(async () => {
    caller = await newCaller('Caller');
    other = await newCaller('Other');
  });

  async function newCaller(name: string): Promise<Caller> {
    const tenant = await stack.createTenant(name);
    return { stack, tenant, api: stack.apiAs(tenant.keys.editor) };
  }

  /** Calls a route with this id in one part of its path, and the caller's own ids in the others. */
  async function callWith(route: DescribedRoute, name: string, id: string): Promise<Answer> {
    const parts: Record<string, string> = { [name]: id };
    for (const one of idsOf(route)) parts[one.name] ??= await make(one.prefix, caller);
    const [[, body]] = bodiesOf(route) as [[string, unknown]];
    return call(route, caller, parts, body);
  }

  it.each(CASES)('in %s as %s cannot be told from an unknown one', async (_, name, prefix, route) => {
    const foreign = await make(prefix, other);
    const answer = await callWith(route, name, foreign);
    const unknown = await callWith(route, name, newId(prefix, Date.now()));
    expect([answer.status, answer.text]).toEqual([prefix === 'wrk' ? 403 : 404, unknown.text]);
    expect(unknown.status).toBe(answer.status);
  });

  it('is not changed by any call', async () => {
    for (const [label, name, prefix, route] of CASES.filter(([, , , { method }]) => method !== 'GET')) {
      const own = route.path.slice(0, route.path.indexOf(`{${name}}`) + name.length + 2);
      const reading = ROUTES.find(({ method, path }) => method === 'GET' && path === own);
      if (reading === undefined || prefix === 'wrk') continue;
      const parts: Record<string, string> = { workspace_id: other.tenant.workspaceId };
      for (const one of idsOf(reading)) parts[one.name] = await make(one.prefix, other);
      const foreign = parts[name]!;
      const before = await call(reading, other, parts);
      await callWith(route, name, foreign);
      const after = await call(reading, other, parts);
      expect([label, before.status, after.text]).toEqual([label, 200, before.text]);
    }
  });
});
