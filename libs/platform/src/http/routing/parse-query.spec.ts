import { describe, expect, it } from '@jest/globals';
import { parseQuery } from './parse-query.ts';

describe('parseQuery', () => {
  it.each([
    [null, {}],
    ['', {}],
    ['a=1&b=x+y&c=%C3%BC%2B%EF%BF%BD&d&=e', { 'a': '1', 'b': 'x y', 'c': 'ü+\ufffd', 'd': '', '': 'e' }],
    ['a=1&a=2', { a: ['1', '2'] }],
    ['%61%00=%25zz', { 'a\0': '%zz' }],
  ])('parses %j', (text, query) => {
    expect({ ...parseQuery(text) }).toEqual(query);
  });

  it('parses the last of so many parameters as fit into a request, empty ones too', () => {
    const many = Array.from({ length: 1_500 }, (_, index) => `p${index}=1`).join('&');
    expect(Object.keys(parseQuery(many))).toHaveLength(1_500);
    expect({ ...parseQuery(`${'&'.repeat(10_000)}a=1`) }).toEqual({ a: '1' });
  });

  it.each([
    ['a=1&group=B%FCcher', 'B%FCcher'],
    ['%ff=1', '%ff'],
    ['a=100%', '100%'],
    ['a=%zz', '%zz'],
    ['a=%C0%80', '%C0%80'],
    ['a=%ED%A0%80', '%ED%A0%80'],
    [`a=${'x'.repeat(100)}%ff`, 'x'.repeat(60)],
    ['a=`%ff', '�%ff'],
  ])('refuses %j, and quotes what it cannot decode', (text, shown) => {
    expect(() => parseQuery(text)).toThrow(
      `The query has \`${shown}\`, which is not percent-encoded UTF-8; encode it so, with \`%25\` for each \`%\` itself`,
    );
  });
});
