import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { tomorrow } from './factories.ts';
import { LISTS, ListUnderTest } from './lists.ts';
import { type DescribedRoute, type Parameter, prefixOf } from './openapi-routes.ts';
import { newRecipient, Stack } from './stack.ts';

const PAGING = ['limit', 'sort', 'startAt'];

const stack = Stack.forTests({ sends: false });

/** Every filter of every list in the document. */
const FILTERS = LISTS.flatMap((route) =>
  route.parameters
    .filter((parameter) => parameter.in === 'query' && !PAGING.includes(parameter.name))
    .map((filter): [string, string, DescribedRoute, Parameter] => [route.path, filter.name, route, filter]),
);

/** A value that no item has. */
function valueOfNone(filter: Parameter): string {
  if (filter.name === 'createdAfter') return tomorrow();
  if (filter.name === 'createdBefore') return '2020-01-31';
  const isId = filter.schema.pattern?.includes('_[0-7]') ?? false;
  return isId ? newId(prefixOf(filter) ?? 'trs', Date.now()) : newRecipient();
}

describe('A filter', () => {
  it.each(FILTERS)('of %s, `%s`, leaves out what does not match', async (_path, name, route, filter) => {
    const list = await ListUnderTest.of(route, stack);
    await list.add();
    const numberOf = async (query: Readonly<Record<string, string>>): Promise<number> =>
      (await list.page({ limit: 100, ...query })).items.length;
    const all = await numberOf({});
    expect(all).toBeGreaterThan(0);
    if (filter.schema.enum === undefined) {
      expect(await numberOf({ [name]: valueOfNone(filter) })).toBe(0);
      return;
    }
    const numbers = await Promise.all(filter.schema.enum.map((word) => numberOf({ [name]: word })));
    expect(numbers.reduce((sum, number) => sum + number, 0)).toBe(all);
  });
});
