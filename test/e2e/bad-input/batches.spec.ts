import { describe, it } from '@jest/globals';
import { newRecipient, validEmail } from '../stack.ts';
import { type Case, casesOf, type Fault, inBatch, inBody, inRawEmail, NON_STRINGS, shown } from './cases.ts';
import { INVALID_HEADER_LINES, tooLong } from './faults/texts.ts';
import { IMPOSSIBLE } from './faults/values.ts';
import { RefusingStack, titled } from './refusing-stack.ts';

const refusing = RefusingStack.forFile();
const refuses = (_title: string, bad: Case): Promise<void> => refusing.refuses(bad);
const ROUTE = 'POST /v1/emails/batch';
const MIB = 1024 * 1024;

describe('S12: invalid batches', () => {
  const many = (amount: number): object[] => Array.from({ length: amount }, validEmail);
  const faults: Fault[] = [
    ...[null, 0, 1, '', 'x', true, false, {}, { 0: validEmail() }, validEmail(), '[]'].map((value) => ({
      what: shown(value),
      value,
      says: /`emails` is (null|an? \w+); give an array/,
    })),
    { what: 'no email', value: [], says: '`emails` is empty; give 1 to 50' },
    { what: '51 emails', value: many(51), says: '`emails` has 51 items, 1 more than the 50' },
    { what: '1,000 emails', value: many(1_000), says: '`emails` has 1,000 items, 950 more than the 50' },
    { what: '51 of nothing', value: Array(51).fill(null), says: '`emails` has 51 items, 1 more than the 50' },
  ];
  const bodies: [unknown, string][] = [
    [{}, '`emails` is missing'],
    [[validEmail()], 'The body must be a JSON object with `emails`, an array of 1 to 50 emails'],
    [{ email: validEmail() }, '`emails` is missing'],
    [{ Emails: [validEmail()] }, '`Emails` is not a known field; did you mean `emails`?'],
    [{ emails: [validEmail()], sendAt: '2030-01-31T09:30:00Z' }, '`sendAt` is not a known field'],
    [{ emails: [validEmail()], idempotencyKey: 'k' }, '`idempotencyKey` is not a known field'],
    [{ emails: [validEmail()], from: 'a@example.com' }, '`from` is not a known field'],
  ];
  const wholes = bodies.map(([body, names]): Case => ({
    what: shown(body),
    route: ROUTE,
    body,
    names,
    status: 400,
  }));
  it.each(titled([...casesOf(faults, [inBody(ROUTE, 'emails')]), ...wholes]))('%s', refuses);
});

describe('S12, F5: an invalid item fails alone', () => {
  const items: [what: string, item: unknown, names: string | RegExp][] = [
    ...[null, 0, 1, '', 'x', true, [], [validEmail()]].map((item): [string, unknown, RegExp] => [
      shown(item),
      item,
      /^The email is (null|an? \w+); give an object/,
    ]),
    ['nothing in it', {}, /`from` is missing.*`to` is missing/],
    [
      'a field that is not known',
      { ...validEmail(), sendat: 'x' },
      '`sendat` is not a known field; did you mean `sendAt`?',
    ],
    ['both kinds', { ...validEmail(), template: 't' }, 'belongs to raw emails'],
    ['a template that is not there', { template: 't', to: newRecipient() }, '`template` names no template'],
    [
      'html that is too large',
      { ...validEmail(), html: 'x'.repeat(5 * MIB + 1) },
      '1 more than the 5,242,880',
    ],
    ...IMPOSSIBLE.map((to): [string, unknown, RegExp] => [
      `to ${shown(to)}`,
      { ...validEmail(), to },
      /^`to` has (the character U\+0000|half of a surrogate pair)/,
    ]),
    ['a batch in a batch', { emails: [validEmail()] }, '`emails` is not a known field'],
  ];
  const alone = items.map(([what, item, names]): Case => ({
    what,
    route: ROUTE,
    body: { emails: [item] },
    isItem: true,
    status: 400,
    names,
  }));
  it.each(titled(alone))('%s', refuses);

  const lines = ['subject', 'groupBy', 'idempotencyKey'].flatMap((field) =>
    casesOf(
      [...INVALID_HEADER_LINES, ...tooLong(field === 'subject' ? 998 : 255), ...NON_STRINGS],
      [inBatch(inRawEmail(field))],
    ),
  );
  it.each(titled(lines))('%s', refuses);
});
