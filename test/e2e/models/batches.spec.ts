import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { partIn } from '../api.ts';
import { IMPOSSIBLE } from '../bad-input/faults/values.ts';
import { newRecipient, Stack, validEmail } from '../stack.ts';
import { holds, SEED } from './explore.ts';

const RUNS = 60;
const WITHIN_MS = 6_000;

type Members = Readonly<Record<string, unknown>>;

/** A batch by the name of its field, which is also the table that its items are written to. */
interface Batch {
  /** A valid item. */
  readonly item: () => Members;
  readonly address: 'to' | 'email';
  readonly column: string;
}

const BATCHES: Readonly<Record<string, Batch>> = {
  emails: { item: () => ({ ...validEmail(), contactProperties: {} }), address: 'to', column: 'to_address' },
  contacts: { item: () => ({ email: newRecipient(), properties: {} }), address: 'email', column: 'email' },
  suppressions: { item: () => ({ email: newRecipient() }), address: 'email', column: 'email' },
};

/** What no item may have anywhere, and how deep it is put into arrays and objects. */
const faults = fc.record({
  evil: fc.oneof(
    fc.constantFrom(...IMPOSSIBLE, 2 ** 53, -1e300),
    fc.constantFrom(...IMPOSSIBLE, '__proto__').map((key): Members => Object.fromEntries([[key, 1]])),
  ),
  around: fc.array(fc.constantFrom('array', 'object'), { maxLength: 5 }),
  /** Which field has it; beyond the last one: a field that is not known. */
  place: fc.nat(),
});
type Fault = typeof faults extends fc.Arbitrary<infer Value> ? Value : never;

function withFault(item: Members, { evil, around, place }: Fault): Members {
  const names = [...Object.keys(item), 'nonesuch'];
  const value = around.reduce<unknown>((inner, kind) => (kind === 'array' ? [0, inner] : { a: inner }), evil);
  return { ...item, [names[place % names.length]!]: value };
}

const stack = Stack.forTests({ sends: false });

describe.each(Object.entries(BATCHES))('A batch of %s', (name, { item, address, column }) => {
  it(`S12, G11: is accepted but for the items with something that is refused everywhere, wherever they have it (seed ${SEED})`, () =>
    holds(
      fc.array(fc.option(faults, { freq: 2 }), { minLength: 1, maxLength: 20 }),
      async (wanted) => {
        const sound = wanted.map(item);
        const items = sound.map((one, index) => {
          const fault = wanted[index];
          return fault ? withFault(one, fault) : one;
        });
        const answer = await stack.api().post(`/v1/${name}/batch`, { [name]: items });
        const { successful, failed } = partIn<{
          successful: Members[];
          failed: { index: number; error: { statusCode: number } }[];
        }>(answer, name);
        const isSound = (_: unknown, index: number): boolean => wanted[index] === null;
        expect(failed.map(({ index, error }) => [index, error.statusCode])).toEqual(
          [...wanted.keys()].filter((index) => wanted[index] !== null).map((index) => [index, 400]),
        );
        const accepted = sound.filter(isSound).map((one) => one[address]);
        expect(successful.map((one) => one[address])).toEqual(accepted);
        const addresses = sound.map((one) => one[address]);
        const stored = `SELECT count(*)::int FROM ${name} WHERE ${column} = ANY ($1::text[])`;
        expect(await stack.count(stored, [addresses])).toBe(accepted.length);
      },
      { runs: RUNS, withinMs: WITHIN_MS },
    ));
});
