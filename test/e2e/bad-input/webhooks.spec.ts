import { describe, it } from '@jest/globals';
import type { Answer } from '../api.ts';
import { type Case, casesOf, NON_STRINGS, type RequestField, shown, texts } from './cases.ts';
import { RefusingStack, titled } from './refusing-stack.ts';

const WANTED = { url: 'https://example.com/hook', events: ['CONTACT_CREATED'] };
const CREATE = 'POST /v1/webhooks';
const UPDATE = 'POST /v1/webhooks/{webhook_id}';
const ROTATE = 'POST /v1/webhooks/{webhook_id}/rotate-token';

const refusing = RefusingStack.forFile(async (stack) => {
  const { body }: Answer = await stack.api().post('/v1/webhooks', WANTED);
  return { webhook_id: (body['webhook'] as { id: string }).id };
});
const refuses = (_title: string, bad: Case): Promise<void> => refusing.refuses(bad);

const places = (field: string): RequestField[] => [
  { route: CREATE, field, request: (value) => ({ body: { ...WANTED, [field]: value } }) },
  { route: UPDATE, field, request: (value) => ({ body: { [field]: value } }) },
];
const sending = (what: string, body: unknown, names: string | RegExp, route = CREATE): Case => ({
  what,
  route,
  body,
  status: 400,
  names,
});

describe('W1: invalid URLs of webhooks', () => {
  const malformed = [
    '',
    'example.com',
    'ftp://example.com/',
    'https://u:p@example.com/',
    'https://example.com/#part',
  ];
  const closed = ['localhost', 'db.internal', '127.1', '169.254.169.254', '[::ffff:127.0.0.1]'].map(
    (host) => `https://${host}/hook`,
  );
  const wrong = texts(
    ...malformed,
    ...closed,
    'http://example.com/',
    `https://example.com/${'x'.repeat(2_029)}`,
  );
  it.each(titled(casesOf([...NON_STRINGS, ...wrong], places('url'))))('%s', refuses);
});

describe('W2: invalid events of webhooks', () => {
  const none = [null, 'CONTACT_CREATED', 1, true, {}, { 0: 'CONTACT_CREATED' }, []];
  const wrong = [
    '',
    ' ',
    '*',
    'all',
    'contact_created',
    'CONTACT_CREATED ',
    'CONTACT.CREATED',
    'CONTACTCREATED',
    'toString',
    null,
    1,
    true,
    {},
    ['CONTACT_CREATED'],
    '__proto__',
    'CONTACT_CREATED\0',
    'x'.repeat(10_000),
  ];
  const arrays = wrong.map((name) => ['EMAIL_SENT', name]);
  it.each(
    titled([
      ...casesOf(
        [...none, ...arrays, Array(101).fill('EMAIL_SENT')].map((value) => ({ what: shown(value), value })),
        places('events'),
      ),
      sending(
        'a slip',
        { ...WANTED, events: ['CONTACT_CREATD'] },
        '`events[0]` is not the name of an event, perhaps `CONTACT_CREATED` is meant; give only names out of `CONTACT_CREATED`, `CONTACT_UPDATED`',
      ),
      sending('a hundred slips', { ...WANTED, events: Array(100).fill('X') }, '`events[4]`'),
    ]),
  )('%s', refuses);
});

describe('W3: invalid tokens of webhooks', () => {
  const wrong = [
    '',
    'x',
    '1234567',
    'x'.repeat(257),
    'x'.repeat(100_000),
    '12345678\n',
    '1234\u00005678',
    '1234567\t',
    'pässwörter',
    '12345678\u007f',
    '😀😀😀😀😀😀😀😀',
    '1234567\u00a0',
    '\u202e12345678',
  ];
  it.each(titled(casesOf([...NON_STRINGS, ...texts(...wrong)], places('token'))))('%s', refuses);
});

describe('W6: invalid overlaps of tokens', () => {
  const wrong = ['-1', '604801', '0.5', '1e9', '"60"', 'true', 'null', '[]', '{}', '9007199254740993'];
  it.each(
    titled([
      ...wrong.map((value) => {
        const body = `{"overlapSeconds":${value}}`;
        return sending(`overlapSeconds: ${value}`, body, '`overlapSeconds`', ROTATE);
      }),
      sending('a short token', { token: '1234567' }, '`token` has 7 characters', ROTATE),
      sending('another field', { url: WANTED.url }, '`url` is not a known field', ROTATE),
    ]),
  )('%s', refuses);
});

describe('W4: invalid statuses', () => {
  const wrong = ['', 'active', 'DISABLED', 'PAUSED ', 'ENABLED', 'x'.repeat(1_000)];
  it.each(titled(casesOf([...NON_STRINGS, ...texts(...wrong)], places('status'))))('%s', refuses);
});

describe('G2, G4: invalid bodies and unknown fields', () => {
  it.each(
    titled([
      sending(
        'nothing',
        {},
        /^`url` is missing; give a string; `events` is missing; give an array of one or more of `CONTACT_CREATED`, /,
      ),
      sending('no events', { url: WANTED.url }, '`events` is missing'),
      sending('no URL', { events: WANTED.events }, '`url` is missing'),
      sending(
        'a slip',
        { ...WANTED, tokn: '12345678' },
        '`tokn` is not a known field; did you mean `token`?',
      ),
      sending('everything wrong', { url: 1, events: [], x: 1 }, /`url` is.*; `events` is.*; `x` is/),
    ]),
  )('%s', refuses);
});
