import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from './canonical-json.ts';
import { changesBetween, mergeProperties } from './contact-properties.ts';

const json = (): fc.Arbitrary<JsonObject> =>
  fc.dictionary(
    fc.constantFrom('a', 'b', 'constructor', 'é', 'toString'),
    fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonObject>,
    { noNullPrototype: true },
  );

describe('mergeProperties', () => {
  it('replaces the keys that are given, removes those given as null, and keeps the others', () => {
    const current = { firstName: 'Ada', plan: 'free', tags: ['a'] };
    const given = { plan: 'paid', tags: null, city: 'London', unknown: null };
    expect(mergeProperties(current, given)).toEqual({
      properties: { firstName: 'Ada', plan: 'paid', city: 'London' },
    });
  });

  it('replaces values as a whole, and keeps nested nulls', () => {
    expect(mergeProperties({ a: { b: 1, c: 2 } }, { a: { b: null } })).toEqual({
      properties: { a: { b: null } },
    });
  });

  it('G11: bounds what the contact has afterwards, by keys and by bytes', () => {
    const hundred = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`key${n}`, n]));
    expect(mergeProperties(hundred, { key0: 'new' })).toHaveProperty('properties.key0', 'new');
    expect(mergeProperties(hundred, { more: 1 })).toMatchObject({
      exceeded: { size: { max: 100, unit: 'keys' }, amount: 101 },
    });
    expect(mergeProperties(hundred, { more: 1, key0: null })).toHaveProperty('properties.more', 1);
    const half = 'é'.repeat(16_379);
    expect(mergeProperties({ a: half }, { b: `${half}xxxxx` })).toHaveProperty('properties.a', half);
    expect(mergeProperties({ a: half }, { b: `${half}xxxxxx` })).toMatchObject({
      exceeded: { size: { max: 65_536, unit: 'bytes' }, amount: 65_537 },
    });
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(json(), json(), (current, given) => {
        const once = mergeProperties(current, given);
        expect('properties' in once && mergeProperties(once.properties, given)).toEqual(once);
      }),
    );
  });
});

describe('changesBetween', () => {
  it('contains what differs, and nothing for equal values that are written differently', () => {
    expect(changesBetween({ a: 1, b: [1, { c: 1, d: 2 }] }, { b: [1, { d: 2, c: 1 }], a: 1.0 })).toBe(
      undefined,
    );
    expect(changesBetween({ a: 1, b: 2, c: 3 }, { a: 1, b: 'two', d: 4 })).toEqual({
      b: 'two',
      c: null,
      d: 4,
    });
  });

  it('leads from one to the other when merged', () => {
    fc.assert(
      fc.property(json(), json(), (before, given) => {
        const merged = mergeProperties(before, given);
        const after = 'properties' in merged ? merged.properties : {};
        const clean = mergeProperties({}, before);
        const changes = changesBetween('properties' in clean ? clean.properties : {}, after) ?? {};
        expect(mergeProperties(before, changes)).toEqual({ properties: after });
      }),
    );
  });
});
