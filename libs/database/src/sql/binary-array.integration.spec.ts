import { expect, it } from '@jest/globals';
import { newId, uuidOf } from '@posthorn/kernel';
import fc from 'fast-check';
import { columnsOf } from './binary-array.ts';
import { openTestStores } from '../open-test-stores.fixture.ts';

const COLUMNS = { n: 'int', id: 'uuid', text: 'text', flag: 'boolean', at: 'timestamptz' } as const;

const stores = await openTestStores();

it('encodes every text, time and number unchanged, and absent values as NULL', async () => {
  const orNothing = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: undefined });
  const row = fc.record({
    n: orNothing(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
    id: orNothing(fc.nat().map((at) => newId('trs', at * 1_000))),
    text: orNothing(fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', ''))),
    flag: orNothing(fc.boolean()),
    at: orNothing(
      fc.date({ min: new Date('0001-01-01Z'), max: new Date('9999-12-31Z'), noInvalidDate: true }),
    ),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
      const result = await stores.database.pool.query<Record<string, unknown>>({
        name: 'read_columns',
        text: `SELECT n, id, text, flag, extract(epoch FROM at)::text AS at
               FROM   unnest($1::int[], $2::uuid[], $3::text[], $4::boolean[], $5::timestamptz[]) AS r (n, id, text, flag, at)`,
        values: columnsOf(COLUMNS, rows),
      });
      const read = result.rows.map((one) => ({ ...one, at: one['at'] === null ? null : Number(one['at']) }));
      expect(read).toEqual(
        rows.map(({ n, id, text, flag, at }) => ({
          n: n ?? null,
          text: text ?? null,
          flag: flag ?? null,
          id: id === undefined ? null : uuidOf(id),
          at: at === undefined ? null : at.getTime() / 1_000,
        })),
      );
    }),
    { numRuns: 200 },
  );
});
