import { describe, it } from '@jest/globals';
import type { Answer } from '../api.ts';
import { type Case, casesOf, type RequestField, shown, texts } from './cases.ts';
import { INVALID_MAILBOXES } from './faults/mailboxes.ts';
import { RefusingStack, titled } from './refusing-stack.ts';

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
  const named = texts(
    'Ada <ada@example.net>',
    '<ada@example.net>',
    '"Ada" <ada@example.net>',
    'a\0@example.net',
  );
  it.each(titled(casesOf([...INVALID_MAILBOXES, ...named], [email])))('%s', refuses);
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
    titled([
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
      ...['firstName', 'last_name', 'Name', 'phone'].flatMap((name) =>
        [UPSERT, UPDATE].map((route) =>
          sending(
            `a property ${name}`,
            { ...(route === UPSERT ? ada : {}), [name]: 'Ada' },
            `\`${name}\` is not a known field; did you mean \`properties.${name}\`?`,
            route,
          ),
        ),
      ),
      ...['attributes', 'custom_fields', 'data'].map((name) =>
        sending(
          `properties as ${name}`,
          { ...ada, [name]: { firstName: 'Ada' } },
          `\`${name}\` is not a known field; did you mean \`properties\`?`,
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

describe('Invalid filters of contacts', () => {
  const addresses = ['', 'ada', 'ada%25', 'Ada%20%3Cada@example.net%3E', "'%20OR%201=1", 'a%00@example.net'];
  const statuses = ['', 'subscribed', 'ACTIVE', 'SUBSCRIBED,UNSUBSCRIBED'];
  const asking = (name: string, value: string): Case => ({
    what: `${name}=${value}`,
    route: 'GET /v1/contacts',
    query: `?${name}=${value}`,
    status: 400,
    names: `\`${name}\``,
  });
  it.each(
    titled([
      ...addresses.map((value) => asking('email', value)),
      ...statuses.map((value) => asking('status', value)),
    ]),
  )('%s', refuses);
});
