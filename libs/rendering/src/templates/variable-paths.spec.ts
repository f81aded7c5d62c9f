import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { missingVariables, pathText, segmentsOf, withDefaults } from './variable-paths.ts';

describe('pathText and segmentsOf', () => {
  it('write paths as in templates, and parse them', () => {
    expect(pathText(['order', 'first item', '0'])).toBe('order.[first item].0');
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (segments) => {
        expect([...segmentsOf(pathText(segments))]).toEqual(segments);
      }),
    );
  });
});

describe('missingVariables', () => {
  it('S2: returns all that are absent or null, but not those that are empty, 0 or false', () => {
    const variables = { empty: '', zero: 0, no: false, nothing: null, user: { name: 'Ann' }, list: [] };
    const paths = [
      'empty',
      'zero',
      'no',
      'nothing',
      'absent',
      'user.name',
      'user.city',
      'zero.x',
      'list.length',
    ];
    expect(missingVariables(paths, variables)).toEqual(['nothing', 'absent', 'user.city', 'zero.x']);
  });

  it('ignores inherited properties', () => {
    expect(missingVariables(['constructor', 'user.toString', '__proto__'], { user: {} })).toEqual([
      'constructor',
      'user.toString',
      '__proto__',
    ]);
  });
});

describe('withDefaults', () => {
  it('fills what is absent or null, member by member, and keeps what is given', () => {
    const defaults = {
      name: 'friend',
      brand: { name: 'Acme', url: 'https://acme.example' },
      tags: ['a', 'b'],
    };
    const variables = { name: null, brand: { name: 'Other' }, tags: [], more: 1 };
    expect(withDefaults(defaults, variables)).toEqual({
      name: 'friend',
      brand: { name: 'Other', url: 'https://acme.example' },
      tags: [],
      more: 1,
    });
  });

  it('merges objects only with objects', () => {
    const variables = { text: { a: 1 }, object: 'given', nothing: { a: 1 } };
    expect(withDefaults({ text: 'default', object: { b: 2 }, nothing: null }, variables)).toEqual(variables);
  });

  it('treats a member called __proto__ like any other', () => {
    const given = JSON.parse('{"__proto__":{"polluted":true}}') as Record<string, unknown>;
    const filled = withDefaults(given, {});
    expect(Object.keys(filled)).toEqual(['__proto__']);
    expect((filled as { polluted?: true }).polluted).toBeUndefined();
  });
});
