import { describe, it } from '@jest/globals';
import { newRecipient } from '../stack.ts';
import { type Case, casesOf, type Fault, inRawEmail, type RequestField } from './cases.ts';
import { RefusingStack, titled } from './refusing-stack.ts';

const refusing = RefusingStack.forFile();
const refuses = (_title: string, bad: Case): Promise<void> => refusing.refuses(bad);
const KIB = 1024;

const inVariables: RequestField = {
  route: 'POST /v1/emails',
  field: 'variables',
  request: (variables) => ({ body: { template: 't', to: newRecipient(), variables } }),
};
const places = [inRawEmail('contactProperties'), inVariables];

/** An object, or arrays, with this number of levels. */
function nested(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = wrap('x');
  for (let level = 1; level < levels; level += 1) value = wrap(value);
  return value;
}
const inObject = (inner: unknown): unknown => ({ a: inner });
const inArray = (inner: unknown): unknown => [inner];

describe('F1, F2: objects that are nested too deep', () => {
  const faults = [33, 40, 60].flatMap((levels): Fault[] =>
    [
      { what: `${levels} objects`, value: nested(levels, inObject) },
      { what: `${levels - 1} arrays in an object`, value: { a: nested(levels - 1, inArray) } },
    ].map((fault) => ({ ...fault, says: 'nested more than 32 levels deep' })),
  );
  it.each(titled(casesOf(faults, places)))('%s', refuses);
});

describe('G11: objects that are too large', () => {
  const ofBytes = (bytes: number): object => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
  const keys = (amount: number): object =>
    Object.fromEntries(Array.from({ length: amount }, (_, n) => [`p${n}`, n]));
  const properties: Fault[] = [
    {
      what: '65,537 bytes',
      value: ofBytes(64 * KIB + 1),
      says: '`contactProperties` has 65,537 bytes, 1 more than the 65,536',
    },
    {
      what: '65,544 bytes',
      value: { a: 'x'.repeat(64 * KIB) },
      says: '`contactProperties` has 65,544 bytes, 8 more',
    },
    {
      what: 'umlauts',
      value: { ä: 'ä'.repeat(32 * KIB) },
      says: '`contactProperties` has 65,545 bytes, 9 more',
    },
    { what: '101 keys', value: keys(101), says: '`contactProperties` has 101 keys, 1 more than the 100' },
    {
      what: '5,000 keys',
      value: keys(5_000),
      says: '`contactProperties` has 5,000 keys, 4,900 more than the 100',
    },
  ];
  const variables: Fault[] = [
    {
      what: '262,145 bytes',
      value: ofBytes(256 * KIB + 1),
      says: '`variables` has 262,145 bytes, 1 more than the 262,144',
    },
    { what: 'a mebibyte', value: ofBytes(1024 * KIB), says: '`variables` has 1,048,576 bytes, 786,432 more' },
    {
      what: 'forty thousand keys',
      value: keys(40_000),
      says: /`variables` has [\d,]+ bytes, [\d,]+ more than/,
    },
  ];
  it.each(
    titled([...casesOf(properties, [inRawEmail('contactProperties')]), ...casesOf(variables, [inVariables])]),
  )('%s', refuses);
});
