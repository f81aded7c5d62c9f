import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson } from './canonical-json.ts';

function withKeysReversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withKeysReversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, withKeysReversed(member)]),
  );
}

describe('canonicalJson', () => {
  it('gives the example of RFC 8785, section 3.2.3, its keys sorted by UTF-16 units', () => {
    const value = {
      '€': 'Euro',
      '\r': 'CR',
      '\ufb33': 'Dalet',
      '1': 'One',
      '😀': 'Smile',
      '\u0080': 'Control',
      'ö': 'O',
    };
    expect(canonicalJson(value)).toBe(
      '{"\\r":"CR","1":"One","\u0080":"Control","ö":"O","€":"Euro","😀":"Smile","\ufb33":"Dalet"}',
    );
  });

  it.each([
    [1e30, '1e+30'],
    [4.5, '4.5'],
    [6, '6'],
    [6.0, '6'],
    [2e-3, '0.002'],
    [1e-27, '1e-27'],
    [-0, '0'],
    [333333333.33333329, '333333333.3333333'],
    [9007199254740993, '9007199254740992'],
    [1e21, '1e+21'],
    [true, 'true'],
    [null, 'null'],
    ['\u000f\n"\\/€', '"\\u000f\\n\\"\\\\/€"'],
    [[], '[]'],
    [{}, '{}'],
    [[3, [2, { b: 1, a: [] }]], '[3,[2,{"a":[],"b":1}]]'],
    [{ b: undefined, a: 1 }, '{"a":1}'],
    [JSON.parse('{"b":1,"__proto__":{"z":1}}'), '{"__proto__":{"z":1},"b":1}'],
    [{ 10: 'ten', 9: 'nine' }, '{"10":"ten","9":"nine"}'],
  ])('prints %j as %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it.each([[NaN], [Infinity], [1n], [undefined], [() => 1], [Symbol('s')], [{ a: [NaN] }]])(
    'refuses %p',
    (value) => {
      expect(() => canonicalJson(value)).toThrow(TypeError);
    },
  );

  it('gives the same text whatever the order of the keys, and one that parses to an equal value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(withKeysReversed(value))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('gives different texts for different values', () => {
    const values = [
      '1',
      1,
      [1],
      { 1: 1 },
      true,
      'true',
      null,
      'null',
      '',
      [],
      {},
      [[]],
      { a: [] },
      { a: {} },
    ];
    expect(new Set(values.map(canonicalJson)).size).toBe(values.length);
  });
});
