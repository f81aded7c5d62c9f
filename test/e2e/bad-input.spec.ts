import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { IdentityStore } from '@posthorn/database';
import { newApiKeySecret } from '@posthorn/signing';
import { addIdentity } from '@posthorn/use-cases';
import { type Answer, type Api } from './api.ts';
import { newRecipient, soundEmail, Stack } from './stack.ts';

const PATH = '/v1/emails';
const MIB = 1024 * 1024;
const PHRASES: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  431: 'Request Header Fields Too Large',
};

/** What a fault in our own house would show; nobody outside is to see it. */
const INTERNAL =
  /\bat .+:\d+:\d+|node_modules|\b(SELECT|INSERT|prisma|postgres(ql)?|redis|ECONN\w+)\b|undefined/i;

/** The fields of a raw email that hold a string. */
const STRINGS = [
  ...['from', 'fromName', 'to', 'subject', 'html', 'text', 'previewText', 'replyTo', 'groupBy'],
  ...['sendAt', 'idempotencyKey'],
];

let stack: Stack;
let api: Api;
let rowsBefore: unknown;

beforeAll(async () => {
  stack = await Stack.start({ sends: false });
  api = stack.api();
  const identities = new IdentityStore(stack.database);
  const { workspaceId } = stack.tenant;
  await addIdentity(identities, workspaceId, { address: 'known@partner.example' }, true);
  await addIdentity(identities, workspaceId, { domain: 'unproven.example' }, false);
  rowsBefore = await rows();
}, 60_000);

afterAll(() => stack.close());

async function rows(): Promise<unknown> {
  const tables = ['emails', 'email_contents', 'email_events', 'outbox', 'usage', 'idempotency_keys'];
  const counts = tables.map((table) => stack.count(`SELECT count(*)::int FROM ${table}`));
  return Object.fromEntries((await Promise.all(counts)).map((count, index) => [tables[index], count]));
}

/** Posts an email with a fault in it. */
const post = (change: Record<string, unknown>): Promise<Answer> => stack.send(change);

/** Checks everything that every refusal has, and nothing else. */
function expectRefusal(
  answer: Answer,
  statusCode: number,
  message: string | RegExp,
  extra: Record<string, unknown> = {},
): void {
  const text =
    typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message);
  const error = PHRASES[statusCode];
  expect(answer.body).toStrictEqual({ statusCode, error, message: text, ...extra });
  expect(answer.status).toBe(statusCode);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  expect(answer.text.length).toBeLessThan(4_000);
  expect(answer.body['message']).not.toMatch(INTERNAL);
}

/** Checks the answer to a body of neither shape. */
function expectInvalidPayload(answer: Answer, message: string | RegExp): void {
  expectRefusal(answer, 400, message, { docsUrl: expect.stringMatching(/\/docs\/errors\/invalid-payload$/) });
}

describe('what is refused', () => {
  // Whatever the tests below try, nothing of it may have been taken.
  afterAll(async () => expect(await rows()).toEqual(rowsBefore));

  describe('for its credential', () => {
    const secret = (): string => stack.tenant.keys.apiUser;
    const otherCase = (text: string): string =>
      text.replace(/.$/, (last) => (last === last.toUpperCase() ? last.toLowerCase() : last.toUpperCase()));

    it('5.3: a request without Authorization', async () => {
      expectRefusal(await stack.send({}, { key: null }), 401, 'The `Authorization` header is missing');
      expectRefusal(await api.get(`${PATH}/trs_01h455vb4pex5vsknk084sn02q`, { key: null }), 401, 'missing');
    });

    it.each([
      ['another scheme', () => `Basic ${btoa(`user:${secret()}`)}`],
      ['the key alone', () => secret()],
      ['the scheme alone', () => 'Bearer'],
      ['nothing', () => ''],
      ['two keys', () => `Bearer ${secret()} ${secret()}`],
      ['two schemes', () => `Bearer Bearer ${secret()}`],
      ['a list', () => `Bearer ${secret()}, Bearer ${secret()}`],
      ['quotes', () => `Bearer "${secret()}"`],
      ['a tab', () => `Bearer\t${secret()}`],
      ['a colon', () => `Bearer: ${secret()}`],
      ['a key that is cut off', () => `Bearer ${secret().slice(0, -1)}`],
      ['a key with more behind it', () => `Bearer ${secret()}x`],
      ['a key of another kind', () => `Bearer ${secret().replace('phk_', 'sk_')}`],
      ['a key in other letters', () => `Bearer ${secret().toUpperCase()}`],
      ['a slip of the pen', () => `Bearer ${otherCase(secret().replace(/\d+$/, 'a'))}`],
      ['a path', () => 'Bearer ../../etc/passwd'],
      ['SQL', () => "Bearer ' OR '1'='1"],
      ['something long', () => `Bearer ${'x'.repeat(8_000)}`],
      ['bytes', () => 'Bearer \u00ff\u00fe'],
    ])('5.3: an Authorization with %s', async (_what, value) => {
      expectRefusal(
        await stack.send({}, { key: null, headers: { Authorization: value() } }),
        401,
        /header|key/,
      );
    });

    it('5.3: a key that is well-formed and nobody’s', async () => {
      expectRefusal(await stack.send({}, { key: newApiKeySecret() }), 401, 'The API key is not valid');
    });

    it('5.3: a key in the query', async () => {
      const path = `${PATH}?key=${secret()}&access_token=${secret()}&authorization=Bearer%20${secret()}`;
      expectRefusal(await api.post(path, soundEmail(), { key: null }), 401, 'missing');
    });

    it.each([
      ['twice the same', (right: string) => [right, right]],
      ['the right one first', (right: string) => [right, `Bearer ${newApiKeySecret()}`]],
      ['the right one last', (right: string) => ['Basic eDp5', right]],
      ['three of them', (right: string) => [right, '', right]],
    ])('5.3: doubled Authorization headers: %s', async (_what, values) => {
      const headers = values(`Bearer ${secret()}`).map(
        (value, n) => `${n % 2 ? 'authorization' : 'Authorization'}: ${value}`,
      );
      expectRefusal(await rawPost(headers), 401, 'more than one `Authorization` header');
    });

    it('5.3: two keys whose headers are one of them empty', async () => {
      expectRefusal(
        await rawPost(['Authorization:', `Authorization: Bearer ${secret()}`]),
        401,
        'more than one',
      );
    });

    it('G5: the credential is judged before anything else', async () => {
      const keyless = { key: null };
      expectRefusal(await api.post(PATH, '{', keyless), 401, 'missing');
      expectRefusal(await api.post(PATH, { sendat: 1 }, keyless), 401, 'missing');
      const asText = { key: null, headers: { 'Content-Type': 'text/plain' } };
      expectRefusal(await api.post(PATH, 'x', asText), 401, 'missing');
    });

    it('G5: the scope is judged before the body', async () => {
      const { viewer } = stack.tenant.keys;
      expectRefusal(await api.post(PATH, '{', { key: viewer }), 401, 'lacks the scope `api_user`');
    });
  });

  describe('for its form', () => {
    it.each([
      ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/json'],
      ...['application/jsonp', 'application/merge-patch+json', 'application/json, text/plain', '*/*', 'json'],
      ...[
        'application/json; charset=latin1',
        'application/json;charset=utf-16',
        'application/json; charset=',
      ],
    ])('G2: a Content-Type of %s', async (type) => {
      const answer = await stack.send({}, { headers: { 'Content-Type': type } });
      expectRefusal(answer, 415, 'The header `Content-Type` must be application/json, in UTF-8');
    });

    it('G2: a body without a Content-Type', async () => {
      expectRefusal(await rawPost([auth()], { type: null }), 415, 'Content-Type');
    });

    it.each(['gzip', 'br', 'deflate', 'x'])('G2: a body with the Content-Encoding %s', async (encoding) => {
      const answer = await stack.send({}, { headers: { 'Content-Encoding': encoding } });
      expectRefusal(answer, 415, 'must not be compressed');
    });

    it.each([
      ['nothing', ''],
      ['white space', ' \n\t'],
      ['half an object', '{"from":"a@example.com"'],
      ['a number that no computer holds', '1e400'],
      ['a string without its end', '{"from":"a'],
      ['a comma too many', '{"from":"a@example.com",}'],
      ['single quotes', "{'from':'a@example.com'}"],
      ['bare keys', '{from:"a@example.com"}'],
      ['a comment', '{/* c */"from":"a@example.com"}'],
      ['two objects', '{} {}'],
      ['rubbish behind it', '{}x'],
      ['NaN', '{"from":NaN}'],
      ['undefined', '{"from":undefined}'],
      ['a leading zero', '{"from":01}'],
      ['a raw line break in a string', '{"from":"a\nb"}'],
      ['a raw NUL in a string', '{"from":"a\0b"}'],
      ['an unknown escape', '{"from":"\\x41"}'],
      ['a form', 'from=a%40example.com'],
      ['XML', '<email/>'],
      ['UTF-16', Buffer.from('\ufeff{"from":"a@example.com"}', 'utf16le')],
      ['two byte order marks', '\ufeff\ufeff{}'],
    ])('G2: %s instead of JSON', async (_what, body) => {
      expectRefusal(await api.post(PATH, body), 400, /^The body /);
    });

    it.each(['null', 'true', '1', '"text"', '[]', '[{}]', '-0'])(
      'G2: %s instead of an object',
      async (body) => {
        expectInvalidPayload(await api.post(PATH, body), 'The body');
      },
    );

    it.each([
      ['a byte that cannot be', [0xff]],
      ['half a character', [0xc3]],
      ['an overlong slash', [0xc0, 0xaf]],
      ['an overlong NUL', [0xc0, 0x80]],
      ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
      ['a character beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
      ['Latin-1', [0xfc, 0x62]],
    ])('G2: invalid UTF-8: %s', async (_what, bytes) => {
      const [before, after] = JSON.stringify({ ...soundEmail(), subject: '|' }).split('|') as [
        string,
        string,
      ];
      const body = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
      expectRefusal(await api.post(PATH, body), 400, 'The body is not valid UTF-8; encode it as UTF-8');
    });

    it.each([
      ['plain', '"to":"b@example.com"', '`to` twice'],
      ['with the same value', '"subject":"Hello"', '`subject` twice'],
      ['escaped', '"t\\u006f":"b@example.com"', '`to` twice'],
      ['far inside', '"contactProperties":{"a":[{"b":1,"c":2,"b":1}]}', '`b` twice'],
    ])('G2: a key that is there twice, %s', async (_what, member, message) => {
      const body = `${JSON.stringify(soundEmail()).slice(0, -1)},${member}}`;
      expectRefusal(await api.post(PATH, body), 400, message);
    });

    it.each([
      ['at the top', '"__proto__":{"from":"a@example.com"}'],
      ['in an object', '"contactProperties":{"__proto__":{"admin":true}}'],
      ['escaped', '"settings":{"\\u005f_proto__":{"trackOpens":true}}'],
    ])('G2: the key `__proto__` %s', async (_what, member) => {
      const body = `${JSON.stringify(soundEmail()).slice(0, -1)},${member}}`;
      expectRefusal(await api.post(PATH, body), 400, '`__proto__`');
    });

    it.each(['constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'])(
      'G4: the key `%s`',
      async (name) => {
        expectInvalidPayload(await post({ [name]: 'x' }), `\`${name}\` is not a known field`);
        expectInvalidPayload(
          await post({ settings: { [name]: true } }),
          `\`settings.${name}\` is not a known field`,
        );
      },
    );

    it.each([65, 1_000, 100_000])('G2: a body of %i levels', async (levels) => {
      const body = `{"contactProperties":${'['.repeat(levels)}${']'.repeat(levels)}}`;
      expectRefusal(await api.post(PATH, body), 400, 'nested more than 64 levels deep');
    });

    it('G2: contactProperties of more than 32 levels', async () => {
      let deep: unknown = 'x';
      for (let level = 0; level < 33; level += 1) deep = { deep };
      expectInvalidPayload(await post({ contactProperties: deep }), 'nested more than 32 levels deep');
    });

    it('G2: a number that no double holds', async () => {
      const body = `${JSON.stringify(soundEmail()).slice(0, -1)},"contactProperties":{"n":1e999}}`;
      expectRefusal(await api.post(PATH, body), 400, '`contactProperties.n`');
    });

    it.each([
      ['announced', { 'Content-Length': String(10 * MIB + 1) }],
      ['in pieces', { 'Transfer-Encoding': 'chunked' }],
    ])('G11: a body over 10 MiB, %s', async (_what, headers) => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      const chunk = `${(10 * MIB + 1).toString(16)}\r\n${' '.repeat(10 * MIB + 1)}\r\n0\r\n\r\n`;
      const body = 'Content-Length' in headers ? ' '.repeat(10 * MIB + 1) : chunk;
      const answer = await rawPost([auth(), ...lines], { body, length: null });
      expectRefusal(answer, 413, 'The body is larger than 10485760 bytes');
    });

    it('G11: a body whose announced length alone is too much', async () => {
      const lines = [auth(), 'Content-Length: 99999999999'];
      expectRefusal(await rawPost(lines, { body: '{', length: null }), 413, 'larger than');
    });

    it('headers that are too large', async () => {
      const answer = await stack.send({}, { headers: { 'X-Long': 'x'.repeat(20_000) } });
      expectRefusal(answer, 431, 'The headers are larger than 16 KiB');
    });

    it.each([
      ['no HTTP', ['HELO example.com']],
      ['another protocol', ['POST /v1/emails SMTP/1.0', 'Host: x']],
      ['an unknown method', ['FOO /v1/emails HTTP/1.1', 'Host: x']],
      ['no Host', ['POST /v1/emails HTTP/1.1', 'Connection: close']],
      ['a length that is none', ['POST /v1/emails HTTP/1.1', 'Host: x', 'Content-Length: 1x']],
      ['two lengths', ['POST /v1/emails HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Content-Length: 2']],
      [
        'a length and pieces',
        ['POST /v1/emails HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Transfer-Encoding: chunked'],
      ],
      ['a header with a NUL', ['POST /v1/emails HTTP/1.1', 'Host: x', 'X-A: a\0b']],
      ['a folded header', ['POST /v1/emails HTTP/1.1', 'Host: x', 'X A: b']],
    ])('a connection that speaks %s', async (_what, lines) => {
      expectRefusal(await api.raw(lines), 400, /./);
    });
  });

  describe('for its fields', () => {
    it('4.1.1: nothing at all: the message lists what both shapes require', async () => {
      const answer = await api.post(PATH, {});
      expectInvalidPayload(answer, 'a raw email requires `from`, `to`, `subject` and `html`');
      expectInvalidPayload(answer, 'a templated email requires `template`, `to` and');
      expectInvalidPayload(answer, '`variables`');
    });

    it.each(['from', 'to', 'subject', 'html'])('4.1.1: a raw email without `%s`', async (field) => {
      expectInvalidPayload(await post({ [field]: undefined }), `\`${field}\` is missing`);
    });

    it('4.1.1: a templated email without `to`', async () => {
      expectInvalidPayload(await api.post(PATH, { template: 'welcome' }), '`to` is missing');
    });

    it('a template that does not exist', async () => {
      const answer = await api.post(PATH, { template: 'nonesuch', to: newRecipient(), variables: {} });
      expectRefusal(answer, 400, '`template` names no template of this workspace: "nonesuch"');
    });

    const kinds: [string, unknown][] = [
      ['a number', 42],
      ['a boolean', true],
      ['an object', { toString: 'a@example.com' }],
      ['an array', ['a@example.com', ['b@example.com']]],
      ['an empty object', {}],
    ];
    it.each(
      STRINGS.flatMap((field) =>
        [['null', null] as [string, unknown], ...kinds].map(([kind, value]) => [field, kind, value]),
      ),
    )('2.1: `%s` as %s', async (field, _kind, value) => {
      const kindInMessage = value === null ? 'null' : /(number|boolean|object|array)/.source;
      const answer = await post({ [field as string]: value });
      expectInvalidPayload(answer, new RegExp(`\`${String(field)}(\\[\\d\\])?\` is (an? )?${kindInMessage}`));
    });

    it.each([
      ['null', null],
      ['a string', 'x'],
      ['a number', 0],
      ['an array', [1]],
    ])('2.1: `settings` and `contactProperties` as %s', async (_kind, value) => {
      expectInvalidPayload(await post({ settings: value }), '`settings` is');
      expectInvalidPayload(await post({ contactProperties: value }), '`contactProperties` is');
      expectInvalidPayload(
        await api.post(PATH, { template: 't', to: 'a@example.com', variables: value }),
        '`variables` is',
      );
    });

    it.each(['true', 1, 0, null, 'yes', [], {}])('2.3: %j as a setting', async (value) => {
      expectInvalidPayload(await post({ settings: { trackOpens: value } }), '`settings.trackOpens` is');
      expectInvalidPayload(await post({ settings: { trackClicks: value } }), '`settings.trackClicks` is');
    });

    it.each([
      ['sendat', 'sendAt'],
      ['send_at', 'sendAt'],
      ['SendAt', 'sendAt'],
      ['reply_to', 'replyTo'],
      ['idempotency_key', 'idempotencyKey'],
      ['Subject', 'subject'],
      ['subjct', 'subject'],
      ['form_name', 'fromName'],
      ['contactProprties', 'contactProperties'],
    ])('G4: the unknown field `%s`, which was meant as `%s`', async (name, meant) => {
      const message = `\`${name}\` is not a known field; did you mean \`${meant}\`?`;
      expectInvalidPayload(await post({ [name]: 'x' }), message);
    });

    it.each([
      'cc',
      'bcc',
      'attachments',
      'headers',
      '',
      ' ',
      'from ',
      'x'.repeat(5_000),
      '<script>',
      'a\u202eb',
    ])('G4: the unknown field %j', async (name) =>
      expectInvalidPayload(await post({ [name]: 'x' }), /is not a known field/),
    );

    it('G4: a thousand unknown fields, in an answer that does not grow with them', async () => {
      const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`field${n}`, n]));
      expectInvalidPayload(await post(many), '990 more fields are not known');
    });

    it('G4: an unknown setting', async () => {
      const answer = await post({ settings: { trackClick: true } });
      expectInvalidPayload(answer, '`settings.trackClick` is not a known field; did you mean `trackClicks`?');
    });

    it('S1: fields of the other shape', async () => {
      expectInvalidPayload(await post({ variables: { a: 1 } }), '`variables` belongs to templated emails');
      const templated = { template: 't', to: newRecipient() };
      for (const field of ['from', 'subject', 'html', 'text', 'fromName', 'previewText']) {
        expectInvalidPayload(
          await api.post(PATH, { ...templated, [field]: 'x' }),
          `\`${field}\` belongs to raw emails`,
        );
      }
    });

    it('S1: both shapes at once, and a template that is null', async () => {
      expectInvalidPayload(await post({ template: 'welcome' }), 'belongs to raw emails');
      expectInvalidPayload(
        await api.post(PATH, { template: null, to: newRecipient() }),
        '`template` is null',
      );
    });

    it('G2: several faults at once, joined by `; `', async () => {
      const answer = await post({ to: 1, subject: '', sendat: 'x' });
      for (const fault of [
        '`to` is a number; give a string; ',
        '`subject` is empty',
        '; `sendat` is not a known field',
      ])
        expectInvalidPayload(answer, fault);
    });

    it.each([
      ['html', 'x'.repeat(5 * MIB + 1), 'has 5,242,881 bytes, 1 more than the 5,242,880'],
      ['html', 'é'.repeat(2.5 * MIB + 7), 'has 5,242,894 bytes, 14 more than'],
      ['text', 'x'.repeat(5 * MIB + 1), 'has 5,242,881 bytes, 1 more than'],
      ['subject', 'x'.repeat(1_000), 'has 1,000 characters, 2 more than the 998'],
      ['subject', '😀'.repeat(999), 'has 999 characters, 1 more than the 998'],
      ['previewText', 'x'.repeat(1_001), 'has 1,001 characters, 1 more than the 1,000'],
      ['groupBy', 'x'.repeat(300), 'has 300 characters, 45 more than the 255'],
      ['idempotencyKey', 'x'.repeat(256), 'has 256 characters, 1 more than the 255'],
      ['fromName', 'x'.repeat(256), 'has a name of 256 characters; at most 255'],
      ['contactProperties', { a: 'x'.repeat(64 * 1024) }, 'has 65,544 bytes, 8 more than the 65,536'],
      ['replyTo', Array.from({ length: 6 }, () => 'a@example.com'), 'has 6 items, 1 more than the 5'],
      ['sendAt', '2'.repeat(100_000), 'is not a time'],
    ])('G11: `%s` that is too large', async (field, value, message) => {
      expectInvalidPayload(await post({ [field]: value }), `\`${field}\` ${message}`);
    });

    it('G11: more than a hundred contact properties', async () => {
      const many = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`p${n}`, n]));
      expectInvalidPayload(await post({ contactProperties: many }), 'has 101 keys, 1 more than the 100');
    });

    it.each(['subject', 'html', 'groupBy', 'idempotencyKey', 'fromName', 'to', 'from', 'replyTo', 'sendAt'])(
      'G11: an empty `%s`',
      async (field) =>
        expectInvalidPayload(await post({ [field]: '' }), new RegExp(`\`${field}\` is (empty|not)`)),
    );

    it.each([
      ...['tomorrow', '2030-01-31', '2030-01-31T09:30:00', '09:30Z', '1900000000', '2030-01-31 09:30:00Z'],
      ...['2030-02-30T09:30:00Z', '2030-13-01T09:30:00Z', '2030-01-31T24:00:00Z', '2030-01-31T09:60:00Z'],
      ...[
        '2030-01-31T09:30:60Z',
        '2030-01-31T09:30:00+2400',
        '+002030-01-31T09:30:00Z',
        ' 2030-01-31T09:30:00Z',
      ],
      ...[
        '2030-01-31T09:30:00Z\n',
        '２030-01-31T09:30:00Z',
        'Fri, 31 Jan 2030 09:30:00 GMT',
        '0000-00-00T00:00:00Z',
      ],
    ])('S10: %j as `sendAt`', async (sendAt) => {
      expectInvalidPayload(await post({ sendAt }), '`sendAt` ');
    });

    it.each(['9999-12-31T23:59:59Z', '0001-01-01T00:00:00Z', '1969-12-31T23:59:59.999Z'])(
      'S10: %s as `sendAt`, which is out of reach',
      async (sendAt) =>
        expectRefusal(await post({ sendAt }), 400, /`sendAt` is \d+ days (ahead|in the past)/),
    );

    it.each([
      ['empty', ''],
      ['blank', '   '],
      ['too long', 'x'.repeat(256)],
      ['beyond ASCII', '\u00e9'],
    ])('S11: an Idempotency-Key header that is %s', async (_what, key) => {
      const answer = await stack.send({}, { headers: { 'Idempotency-Key': key } });
      expectRefusal(answer, 400, 'The `Idempotency-Key` header must have 1 to 255');
    });

    it('S11: two Idempotency-Key headers', async () => {
      const headers = [auth(), 'Idempotency-Key: a', 'Idempotency-Key: a'];
      expectRefusal(await rawPost(headers), 400, 'more than one `Idempotency-Key` header');
    });
  });

  describe('for a character', () => {
    /** Every string that becomes a header, with a place for what does not belong there. */
    const places: [string, (evil: string) => unknown][] = [
      ['subject', (evil) => `Hello${evil}`],
      ['subject', (evil) => `${evil}Hello`],
      ['fromName', (evil) => `A${evil}B`],
      ['from', (evil) => `A${evil}B <a@example.com>`],
      ['from', (evil) => `"A${evil}B" <a@example.com>`],
      ['from', (evil) => `a${evil}@example.com`],
      ['from', (evil) => `a@example.com${evil}`],
      ['to', (evil) => `A${evil}B <a@example.com>`],
      ['to', (evil) => `<a@example${evil}.com>`],
      ['to', (evil) => `${evil}a@example.com`],
      ['to', (evil) => `a@example.com${evil}`],
      ['replyTo', (evil) => `a@example.com${evil}`],
      ['replyTo', (evil) => ['a@example.com', `B${evil} <b@example.com>`]],
      ['groupBy', (evil) => `g${evil}`],
      ['idempotencyKey', (evil) => `k${evil}${randomBytes(4).toString('hex')}`],
    ];
    const controls = [
      '\r\nBcc: victim@example.net',
      '\n',
      '\r',
      '\r\n',
      '\t',
      '\x7f',
      '\x1b[31m',
      '\x85',
      '\x08',
    ];
    it.each(places.flatMap(([field, at]) => controls.map((evil) => [evil, field, at(evil)])))(
      'S4: %j in `%s`',
      async (_evil, field, value) => {
        expectInvalidPayload(
          await post({ [field as string]: value }),
          new RegExp(`\`${String(field)}(\\[1\\])?\` `),
        );
      },
    );

    it.each(places)('G11: a NUL in `%s`', async (field, at) => {
      expectRefusal(await post({ [field]: at('\0') }), 400, 'has the character U+0000');
    });

    it.each(places.flatMap(([field, at]) => ['\ud800', '\udfff'].map((half) => [field, at(half)])))(
      'G11: half of a surrogate pair in `%s`',
      async (field, value) => {
        expectRefusal(await post({ [field as string]: value }), 400, 'half of a surrogate pair');
      },
    );

    it.each(['\0', '\ud800', '\udc00x'])('G11: %j in contents, keys and values', async (evil) => {
      const bodies = [
        ...[{ html: evil }, { text: evil }, { previewText: evil }, { contactProperties: { a: [evil] } }],
        ...[
          { contactProperties: { [evil]: 1 } },
          { [evil]: 1 },
          { sendAt: evil },
          { settings: { [evil]: 1 } },
        ],
      ];
      for (const body of bodies) expectRefusal(await post(body), 400, /U\+0000|half of a surrogate pair/);
    });
  });

  describe('for its addresses', () => {
    const wrong = [
      ...['', ' ', 'a', '@', 'a@', '@example.com', 'a@@example.com', 'a@b@example.com', 'a b@example.com'],
      ...['a@localhost', 'a@example', 'a@.example.com', 'a@example..com', 'a@example.com.', 'a@-example.com'],
      ...[
        'a@example-.com',
        'a@exa_mple.com',
        'a@exa mple.com',
        'a@127.0.0.1',
        'a@[127.0.0.1]',
        'a@[IPv6:::1]',
      ],
      ...[
        'a@1.2',
        'a@example.com/x',
        'a@example.com?x',
        'a@example.com#x',
        'a@%65xample.com',
        'a@exam\u00adple.com',
      ],
      ...['.a@example.com', 'a.@example.com', 'a..b@example.com', `${'a'.repeat(65)}@example.com`],
      ...[`a@${'b'.repeat(64)}.com`, `a@${'b.'.repeat(127)}com`, `a@${'bcdefgh.'.repeat(32)}com`],
      ...[
        'a@example.com, b@example.com',
        'a@example.com; b@example.com',
        'a@example.com,',
        'a@example.com b@example.com',
      ],
      ...[
        'A <a@example.com>, B <b@example.com>',
        'Team: a@example.com, b@example.com;',
        'undisclosed-recipients:;',
      ],
      ...[
        'A <a@example.com',
        'A a@example.com>',
        '<a@example.com',
        '<>',
        'A <>',
        '<<a@example.com>>',
        '<a@example.com> A',
      ],
      ...[
        'A <a@example.com> <b@example.com>',
        '"A <a@example.com>',
        'a@example.com (comment)',
        '(c) a@example.com',
      ],
      ...[
        'A (c) <a@example.com>',
        'a(c)@example.com',
        '@relay.example:a@example.com',
        '<@a.example,@b.example:c@d.example>',
      ],
      ...['"a b"@example.com', '"a\\"b"@example.com', '"<a@example.com>"@example.com', 'a\\@b@example.com'],
      ...[
        'a@xn--a.com',
        'a@xn--.com',
        'a@\u2024com.com',
        'a\u200b@example.com',
        '\u202ea@example.com',
        'a@example.com\u2028',
      ],
      ...[
        '=?utf-8?q?a?=@example.com',
        '=?utf-8?q?A?= <a@example.com>',
        'mailto:a@example.com',
        'a@example.com?subject=x',
      ],
      ...[
        `${'N'.repeat(256)} <a@example.com>`,
        'x'.repeat(5_000),
        `A, B <a@example.com>`,
        'A@B <a@example.com>',
      ],
      ...['[object Object]', 'null', 'a@example.com\\r\\nBcc: b@example.com'],
    ];
    for (const field of ['from', 'to', 'replyTo']) {
      it.each([...new Set(wrong)])(`S4: %j as \`${field}\``, async (address) => {
        expectInvalidPayload(await post({ [field]: address }), `\`${field}\` `);
      });
    }

    it('S7: no address, or one that is none, among those to reply to', async () => {
      expectInvalidPayload(await post({ replyTo: [] }), '`replyTo` is empty');
      expectInvalidPayload(await post({ replyTo: ['a@example.com', 'b'] }), '`replyTo[1]` has no `@`');
      expectInvalidPayload(await post({ replyTo: ['a@example.com', null] }), '`replyTo[1]` is null');
    });

    it.each([
      ...['a@other.example', 'a@mail.example.com', 'a@example.com.evil.example', 'a@notexample.com'],
      ...['a@unproven.example', 'other@partner.example', 'KNOWN@partner.example', 'a@example.org'],
      ...['a@example.co', 'A <a@other.example>', 'a@ex\u0430mple.com'],
    ])('4.1.2: a `from` that is not verified: %s', async (from) => {
      const answer = await post({ from });
      expectRefusal(answer, 400, 'neither a verified address nor on a verified domain', {
        allowedEmails: ['known@partner.example'],
        allowedDomains: ['example.com'],
        docsUrl: expect.stringMatching(/\/docs\/errors\/unverified-sender$/),
      });
    });

    it('4.1.2: shows a workspace only what is its own', async () => {
      const other = await stack.createTenant('Other');
      const answer = await stack.send({ from: 'known@partner.example' }, { key: other.keys.apiUser });
      expect(answer.body).toMatchObject({ allowedEmails: [], allowedDomains: ['example.com'] });
    });
  });

  describe('for its path or method', () => {
    it.each(['PUT', 'PATCH', 'DELETE'])('G2: %s of the emails', async (method) => {
      const answer = await api.request(method, PATH, method === 'DELETE' ? undefined : '{}');
      expectRefusal(answer, 405, `${method} is not possible here`);
      expect(answer.headers.get('allow')?.split(', ')).toContain('POST');
    });

    it.each(['PUT', 'PATCH', 'DELETE'])('G2: %s of an email', async (method) => {
      const answer = await api.request(method, `${PATH}/trs_01h455vb4pex5vsknk084sn02q`, undefined);
      expectRefusal(answer, 405, `${method} is not possible here`);
      expect(answer.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(['GET', 'HEAD']));
    });

    it.each(['TRACE', 'PROPFIND', 'OPTIONS'])('G2: %s of the emails', async (method) => {
      const answer = await api.raw([`${method} ${PATH} HTTP/1.1`, 'Host: x', auth(), 'Connection: close']);
      expectRefusal(answer, 405, `${method} is not possible here`);
      expect(answer.headers.get('allow')?.split(', ')).toContain('POST');
    });

    it('G2: CONNECT', async () => {
      expectRefusal(
        await api.raw(['CONNECT example.com:25 HTTP/1.1', 'Host: x']),
        405,
        'CONNECT is not possible',
      );
    });

    it.each([
      ...['/', '/v1', '/v2/emails', '/v1/email', '/v1/emails/x/y/z', '/v1/Users', '/favicon.ico', '/.env'],
      ...[
        '/v1//emails',
        '/docs/errors/none',
        '/docs/errors/__proto__',
        '/docs/errors/..%2f..%2fpackage.json',
      ],
      ...['/v1/emails%00', `/${'x'.repeat(5_000)}`, '/health', '/metrics', '/v1/..%5c..%5cetc'],
    ])('G2: the unknown path %s', async (path) => {
      expectRefusal(await api.get(path), 404, /^There is /);
    });

    it.each(['/v1/emails/%zz', '/v1/emails/%', '/v1/emails/%c3%28', '/docs/errors/%e0%a4%a'])(
      'G2: the path %s, which is no text',
      async (path) => {
        const answer = await api.raw([`GET ${path} HTTP/1.1`, 'Host: x', auth(), 'Connection: close']);
        expectRefusal(answer, 400, /./);
      },
    );

    it('G2: a path that is a whole address', async () => {
      const answer = await api.raw([
        'GET http://evil.example/v1/nothing HTTP/1.1',
        'Host: x',
        'Connection: close',
      ]);
      expectRefusal(answer, 404, 'There is nothing at /v1/nothing');
    });
  });
});

describe('X-Request-Id', () => {
  it.each(['a', 'req-1.2_3', 'A'.repeat(128)])('G6: is kept when it is well-formed: %s', async (id) => {
    const headers = { 'X-Request-Id': id };
    expect((await api.post(PATH, {}, { headers })).headers.get('x-request-id')).toBe(id);
    expect((await api.get('/nothing', { headers })).headers.get('x-request-id')).toBe(id);
  });

  it.each(['', 'a b', 'A'.repeat(129), '\u00e9', '<script>', 'a,b', '${jndi:x}'])(
    'G6: is made anew when it is %j',
    async (id) => {
      const given = (await api.post(PATH, {}, { headers: { 'X-Request-Id': id } })).headers.get(
        'x-request-id',
      );
      expect(given).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    },
  );

  it('G6: is made anew when there are two', async () => {
    const answer = await rawPost([auth(), 'X-Request-Id: a', 'X-Request-Id: b'], { body: '{}' });
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  });
});

describe('docsUrl', () => {
  it.each([
    ['invalid-payload', { subject: 1 }],
    ['unverified-sender', { from: 'a@other.example' }],
  ])('G7: of %s is a page of this gateway that explains the error', async (name, change) => {
    const { docsUrl } = (await post(change)).body as { docsUrl: string };
    expect(docsUrl).toMatch(new RegExp(`/docs/errors/${name}$`));
    const page = await fetch(docsUrl);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await page.text()).toMatch(/<h1>.+<\/h1><p>.+<\/p>/);
  });
});

describe('what is not refused', () => {
  const accepted = async (answer: Promise<Answer>): Promise<void> => {
    const { status, text } = await answer;
    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  };

  it.each([
    ['subject', 'x'.repeat(998)],
    ['subject', '😀'.repeat(998)],
    ['html', 'x'.repeat(5 * MIB)],
    ['html', 'é'.repeat(2.5 * MIB)],
    ['text', ''],
    ['previewText', '😀\r\n'.repeat(250)],
    ['groupBy', '漢'.repeat(255)],
    ['idempotencyKey', '😀'.repeat(255)],
    ['fromName', '😀'.repeat(255)],
    ['replyTo', Array.from({ length: 5 }, (_, n) => `a${n}@example.com`)],
    [
      'contactProperties',
      Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`p${n}`, 'x'.repeat(600)])),
    ],
    ['to', `${'a'.repeat(64)}@example.com`],
    ['to', "o'hara+tag=x!#$%&*/?^`{|}~-_@sub.example.co.uk"],
    ['to', 'jürgen@bücher.example'],
    ['to', '  "Lovelace, Ada" <ada@example.com>  '],
    ['from', 'known@PARTNER.example'],
    ['from', 'a@EXAMPLE.com'],
  ])('G11: a `%s` at the edge of what is good', async (field, value) => {
    await accepted(post({ [field]: value }));
  });

  it('a body of 10 MiB', async () => {
    const text = 'x'.repeat(5 * MIB - 1_000);
    const email = { ...soundEmail(), html: text, text: '' };
    email.text = 'x'.repeat(10 * MIB - JSON.stringify(email).length);
    expect(JSON.stringify(email)).toHaveLength(10 * MIB);
    expectInvalidPayload(await api.post(PATH, email), '`text` has');
    const padded = `${JSON.stringify(soundEmail())}${' '.repeat(10 * MIB)}`.slice(0, 10 * MIB);
    await accepted(api.post(PATH, padded));
  });

  it.each(['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"', 'application/json ; x=y'])(
    'a Content-Type of %s',
    async (type) => accepted(stack.send({}, { headers: { 'Content-Type': type } })),
  );

  it('a byte order mark before the JSON', async () => {
    await accepted(api.post(PATH, `\ufeff${JSON.stringify(soundEmail())}`));
  });

  it('the scheme of the credential in other letters', async () => {
    const headers = { Authorization: `bEARER ${stack.tenant.keys.apiUser}` };
    await accepted(stack.send({}, { key: null, headers }));
  });

  it('a body in many small pieces', async () => {
    const body = [...JSON.stringify(soundEmail())].map((letter) => `1\r\n${letter}\r\n`).join('');
    const lines = [auth(), 'Transfer-Encoding: chunked'];
    await accepted(rawPost(lines, { body: `${body}0\r\n\r\n`, length: null }));
  });
});

function auth(): string {
  return `Authorization: Bearer ${stack.tenant.keys.apiUser}`;
}

/** Posts an email with exactly these header lines, beside those that say what the body is. */
function rawPost(
  lines: readonly string[],
  {
    body = JSON.stringify(soundEmail()),
    type = 'application/json',
    length = Buffer.byteLength(body),
  }: { body?: string; type?: string | null; length?: number | null } = {},
): Promise<Answer> {
  return api.raw(
    [
      `POST ${PATH} HTTP/1.1`,
      'Host: localhost',
      'Connection: close',
      ...(type === null ? [] : [`Content-Type: ${type}`]),
      ...(length === null ? [] : [`Content-Length: ${length}`]),
      ...lines,
    ],
    body,
  );
}
