import { describe, it } from '@jest/globals';
import type { Answer } from '../api.ts';
import { type Case, casesOf, NON_STRINGS, type RequestField, shown, texts } from './cases.ts';
import { atLeastForty, RefusingStack, titled } from './refusing-stack.ts';

const UPSERT = 'POST /v1/contacts';
const UPDATE = 'POST /v1/contacts/{contact_id}';
const BATCH = 'POST /v1/contacts/batch';
const FULL = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`key${n}`, n]));

const refusing = RefusingStack.forFile(async (stack) => {
  const full: Answer = await stack
    .api()
    .post('/v1/contacts', { email: 'full@example.net', properties: FULL });
  return { contact_id: (full.body['contact'] as { id: string }).id };
});
const refuses = (_title: string, bad: Case): Promise<void> => refusing.refuses(bad);

const email: RequestField = {
  route: UPSERT,
  field: 'email',
  request: (value) => ({ body: { email: value } }),
};
const properties: RequestField[] = [
  {
    route: UPSERT,
    field: 'properties',
    request: (value) => ({ body: { email: 'ada@example.net', properties: value } }),
  },
  { route: UPDATE, field: 'properties', request: (value) => ({ body: { properties: value } }) },
];
const sending = (what: string, body: unknown, names: string | RegExp, route = UPSERT): Case => ({
  what,
  route,
  body,
  status: 400,
  names,
});

describe('Invalid addresses of contacts', () => {
  const wrong = [
    '',
    ' ',
    'ada',
    'ada@',
    '@example.net',
    'ada@example',
    'ada@@example.net',
    'ada@example.net@x.y',
    'Ada <ada@example.net>',
    '<ada@example.net>',
    '"Ada" <ada@example.net>',
    'ada@example.net>',
    'a@x.net, b@x.net',
    'a@x.net;b@x.net',
    'group: a@x.net;',
    'ada (Ada)@example.net',
    '"a b"@example.net',
    'a b@example.net',
    'ada@exa mple.net',
    '.ada@example.net',
    'ada.@example.net',
    'a..b@example.net',
    'ada@-example.net',
    'ada@example..net',
    'ada@.net',
    'ada@[127.0.0.1]',
    'ada@127.0.0.1',
    'ada@example.net\r\nBcc: x@y.z',
    'ada\n@example.net',
    'ada@example.net\t',
    'a\0@example.net',
    'a\u202eb@example.net',
    '\ufeffada@example.net',
    '=?utf-8?q?ada?=@example.net',
    '\ud800@example.net',
    `${'a'.repeat(65)}@example.net`,
    `a@${'a'.repeat(64)}.net`,
    `a@${'a.'.repeat(130)}net`,
    'x'.repeat(100_000),
  ];
  it.each(atLeastForty(casesOf([...NON_STRINGS, ...texts(...wrong)], [email])))('%s', refuses);
});

describe('G11: invalid properties of contacts', () => {
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
  const none = [null, 'x', '', 1, 0, true, false, [], [{}], [['a', 1]]];
  const wrong = [
    { ...FULL, more: 1 },
    { a: 'x'.repeat(65_536) },
    { ['k'.repeat(65_536)]: 1 },
    { a: 'é'.repeat(33_000) },
    deep(33),
    { a: [deep(32)] },
    { a: '\0' },
    { 'a\0': 1 },
    { a: ['\udfff'] },
    { '\ud800': 1 },
  ];
  const faults = [...none, ...wrong].map((value) => ({ what: shown(value), value }));
  it.each(
    atLeastForty([
      ...casesOf(faults, properties),
      sending('one key too many', { properties: { more: 1 } }, /would have 101 keys.*100 are/, UPDATE),
      sending('the same by its address', { email: 'FULL@example.net', properties: { more: 1 } }, '101 keys'),
      sending('too large with what is there', { properties: { key0: 'x'.repeat(65_000) } }, 'bytes', UPDATE),
    ]),
  )('%s', refuses);
});

describe('G2, G4: invalid bodies and unknown fields', () => {
  const ada = { email: 'ada@example.net' };
  it.each(
    titled([
      sending('nothing', {}, /^`email` is missing; give a string$/),
      sending(
        'a slip',
        { ...ada, propertis: {} },
        '`propertis` is not a known field; did you mean `properties`?',
      ),
      ...['subscribed', 'unsubscribed', 'Unsubscribed_At'].map((name) =>
        sending(
          `a field ${name}`,
          { ...ada, [name]: true },
          `\`${name}\` is not a known field; for a contact who has unsubscribed, give \`"status": "UNSUBSCRIBED"\``,
        ),
      ),
      ...['SUBSCRIBED', 'unsubscribed', ''].map((status) =>
        sending(
          `the status ${shown(status)}`,
          { ...ada, status },
          /^`status` is not possible here.*\/resubscribe.*; give `UNSUBSCRIBED` or leave it out$/,
        ),
      ),
      sending('a status that is no string', { ...ada, status: true }, '`status` is a boolean'),
      sending('another address', { email: 'bob@example.net' }, '`email` is not a known field', UPDATE),
      sending(
        'a status',
        { status: 'SUBSCRIBED' },
        '`status` is not a known field; a contact is unsubscribed by a call of its own',
        UPDATE,
      ),
      sending(
        'everything wrong',
        { email: 1, properties: 1, x: 1 },
        /`email` is.*; `properties` is.*; `x` is/,
      ),
      ...[UPSERT, UPDATE, BATCH].flatMap((route) =>
        ['null', '[]', '1', '"x"', '{', ''].map((body) => sending(shown(body), body, /./, route)),
      ),
    ]),
  )('%s', refuses);
});

describe('Invalid batches of contacts', () => {
  const wrong = [null, 'x', 1, true, {}, { 0: { email: 'ada@example.net' } }, { length: 1 }, []];
  it.each(
    titled([
      ...wrong.map((contacts) => sending(shown(contacts), { contacts }, /^`contacts` is/, BATCH)),
      sending('501', { contacts: Array(501).fill({ email: 'a@b.net' }) }, '`contacts` has 501 items', BATCH),
      sending('nothing', {}, '`contacts` is missing', BATCH),
      sending(
        'the array alone',
        [{ email: 'a@b.net' }],
        /with `contacts`, an array of 1 to 500 contacts$/,
        BATCH,
      ),
      sending('emails', { emails: [] }, '`emails` is not a known field', BATCH),
      sending('more', { contacts: [{ email: 'a@b.net' }], x: 1 }, '`x` is not a known field', BATCH),
    ]),
  )('%s', refuses);
});

describe('G10: invalid pages of contacts', () => {
  const queries: [string, string][] = [
    ...['0', '101', '-1', '1.5', 'x', ''].map((value): [string, string] => ['limit', value]),
    ...['createdAt', 'email', ''].map((value): [string, string] => ['sort', value]),
    ...['x', '1', '2030-01-01T00:00:00.000Z', 'ctc_01h455vb4pex5vsknk084sn02q', ''].map(
      (value): [string, string] => ['startAt', value],
    ),
    ...['', 'ada', 'ada%25', 'Ada%20%3Cada@example.net%3E', "'%20OR%201=1", 'a%00@example.net'].map(
      (value): [string, string] => ['email', value],
    ),
    ...['', 'subscribed', 'ACTIVE', 'SUBSCRIBED,UNSUBSCRIBED'].map((value): [string, string] => [
      'status',
      value,
    ]),
    ['page', '1'],
  ];
  it.each(
    titled(
      queries.map(([name, value]): Case => ({
        what: `${name}=${value}`,
        route: 'GET /v1/contacts',
        query: `?${name}=${value}`,
        status: 400,
        names: `\`${name}\``,
      })),
    ),
  )('%s', refuses);
});
