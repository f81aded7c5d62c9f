import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../api.ts';
import { validEmail } from '../stack.ts';
import { type Case, shown } from './cases.ts';
import { expectRefusal } from './refusal.ts';
import { atLeastForty, RefusingStack, titled } from './refusing-stack.ts';

const refusing = RefusingStack.forFile();
const refuses = (_title: string, bad: Case): Promise<void> => refusing.refuses(bad);

/** Every route that reads a body. */
const ROUTES = ['POST /v1/emails', 'POST /v1/emails/batch'];
const withBody = (what: string, rest: Pick<Case, 'body' | 'headers' | 'status' | 'names'>): Case[] =>
  ROUTES.map((route) => ({ what, route, ...rest }));

describe('G2: a body of another type', () => {
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/json',
    'application/jsonp',
    'application/merge-patch+json',
    'application/json, text/plain',
    '*/*',
    'json',
    'application/*',
    'application/ld+json',
    'application/json-seq',
    'application/xml',
    'text/html',
    'application/octet-stream',
    'application/vnd.api+json',
    'application',
    '/json',
    'application/',
    'application/json/x',
    'application json',
    'application/x-json',
    'text/x-json',
    'application/msgpack',
    'application/cbor',
    'message/rfc822',
    '""',
  ];
  const charsets = [
    'latin1',
    'iso-8859-1',
    'utf-16',
    'utf-16le',
    'utf-32',
    'utf-7',
    'us-ascii',
    'windows-1252',
    'gbk',
    '',
    'shift_jis',
    'utf8mb4',
    'utf-8x',
    '"utf-16"',
    'utf 8',
  ];
  const cases = [...types, ...charsets.map((charset) => `application/json; charset=${charset}`)].flatMap(
    (type) =>
      withBody(type, {
        body: validEmail(),
        headers: { 'Content-Type': type },
        status: 415,
        names: 'The header `Content-Type` must be application/json, in UTF-8',
      }),
  );
  it.each(atLeastForty(cases))('%s', refuses);

  const encodings = [
    'gzip',
    'br',
    'deflate',
    'zstd',
    'compress',
    'x',
    'gzip, gzip',
    'identity, gzip',
    'GZIP',
  ];
  it.each(
    titled(
      encodings.flatMap((encoding) =>
        withBody(`Content-Encoding: ${encoding}`, {
          body: validEmail(),
          headers: { 'Content-Encoding': encoding },
          status: 415,
          names: 'must not be compressed',
        }),
      ),
    ),
  )('%s', refuses);

  it('no type at all', async () => expectRefusal(await post([]), 415, 'Content-Type'));
});

describe('G2: invalid JSON', () => {
  const wrong: (string | Buffer)[] = [
    '',
    ' \n\t',
    '{',
    '}',
    '[',
    '{]',
    '{"',
    '{"a',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '{,}',
    '{"a" 1}',
    '{"from":"a@example.com"',
    '1e400',
    '{"from":"a',
    "{'from':'a'}",
    '{from:"a"}',
    '{/* c */"a":1}',
    '{"a":1}//c',
    '{} {}',
    '{}x',
    '{},',
    '{"a":NaN}',
    '{"a":undefined}',
    '{"a":01}',
    '{"a":1.}',
    '{"a":.1}',
    '{"a":+1}',
    '{"a":0x1}',
    '{"a":"\n"}',
    '{"a":"\0"}',
    '{"a":"\x1f"}',
    '{"a":"\\x41"}',
    '{"a":"\\u12"}',
    '{"a":"\\"}',
    '{"a":True}',
    '{"a":tru}',
    'a=1&b=2',
    '<email/>',
    '--x\r\nContent-Disposition: form-data',
    '\ufeff\ufeff{}',
    '\u00a0{}',
    '{\u2028"a":1}',
    '\f{}',
    'undefined',
    'NaN',
    '()',
    '{"a":1n}',
    '{"a":Infinity}',
    '{"a":[1,]}',
    '{"a":[,1]}',
    'nul',
    '"',
    '-',
    '{"a":--1}',
    Buffer.from('\ufeff{"from":"a@example.com"}', 'utf16le'),
    Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0]),
  ];
  const cases = wrong.flatMap((body) =>
    withBody(shown(body.toString('latin1' as BufferEncoding)), {
      body,
      status: 400,
      names: /^The body (is|must|has)/,
    }),
  );
  it.each(atLeastForty(cases))('%s', refuses);
});

describe('G2: invalid UTF-8', () => {
  const bytes: [string, number[]][] = [
    ['a byte that cannot be', [0xff]],
    ['another', [0xfe]],
    ['a second byte alone', [0x80]],
    ['half a character', [0xc3]],
    ['two thirds of one', [0xe6, 0xbc]],
    ['three quarters of one', [0xf0, 0x9f, 0x98]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['one in three bytes', [0xe0, 0x80, 0xaf]],
    ['an overlong NUL', [0xc0, 0x80]],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
    ['both halves', [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
    ['a character beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
    ['five bytes', [0xf8, 0x88, 0x80, 0x80, 0x80]],
    ['Latin-1', [0xfc, 0x62]],
  ];
  const places = ['subject', 'html', 'unknown'];
  const cases = bytes.flatMap(([what, sequence]) =>
    places.flatMap((field) => {
      const [before, after] = JSON.stringify({ ...validEmail(), [field]: 'a|b' }).split('|') as [
        string,
        string,
      ];
      const body = Buffer.concat([Buffer.from(before), Buffer.from(sequence), Buffer.from(after)]);
      const names = 'The body is not valid UTF-8; encode it as UTF-8';
      return withBody(`${what} in \`${field}\``, { body, status: 400, names });
    }),
  );
  it.each(atLeastForty(cases))('%s', refuses);
});

describe('G2: JSON that is too deep, has too many values, or has a key twice', () => {
  const levels = [65, 66, 1_000, 100_000].flatMap((depth) =>
    [
      `{"contactProperties":${'['.repeat(depth)}${']'.repeat(depth)}}`,
      `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
    ].flatMap((body) =>
      withBody(`${depth} levels`, { body, status: 400, names: 'nested more than 64 levels deep' }),
    ),
  );
  // Without a limit, these exhausted the memory of a gateway.
  const many = ['{},', '[],', '0,'].flatMap((piece) => {
    const body = `{"emails":[${piece.repeat(1_000_000)}${piece.slice(0, -1)}]}`;
    return withBody(`a million of \`${piece}\``, { body, status: 400, names: 'more than 500,000 values' });
  });
  const doubled: [string, string][] = [
    ['"to":"b@example.com"', '`to` twice'],
    ['"subject":"Hello"', '`subject` twice'],
    ['"t\\u006f":"b@example.com"', '`to` twice'],
    ['"contactProperties":{"a":[{"b":1,"c":2,"b":1}]}', '`b` twice'],
    ['"__proto__":{"from":"a@example.com"}', '`__proto__`'],
    ['"settings":{"\\u005f_proto__":{"trackOpens":true}}', '`__proto__`'],
  ];
  const twice = doubled.flatMap(([member, names]) => {
    const body = `${JSON.stringify(validEmail()).slice(0, -1)},${member}}`;
    return withBody(member, { body, status: 400, names });
  });
  it.each(titled([...levels, ...many, ...twice]))('%s', refuses);
});

describe('G2: a connection that speaks', () => {
  const line = 'POST /v1/emails HTTP/1.1';
  it.each([
    ['no HTTP', ['HELO example.com']],
    ['another protocol', ['POST /v1/emails SMTP/1.0', 'Host: x']],
    ['no Host', [line, 'Connection: close']],
    ['two Hosts', [line, 'Host: x', 'Host: y', 'Connection: close']],
    ['a length that is none', [line, 'Host: x', 'Content-Length: 1x']],
    ['a negative length', [line, 'Host: x', 'Content-Length: -1']],
    ['two lengths', [line, 'Host: x', 'Content-Length: 1', 'Content-Length: 2']],
    ['a length and pieces', [line, 'Host: x', 'Content-Length: 1', 'Transfer-Encoding: chunked']],
    ['a header with a NUL', [line, 'Host: x', 'X-A: a\0b']],
    ['a header without a name', [line, 'Host: x', ': b']],
    ['a folded header', [line, 'Host: x', 'X A: b']],
  ])('%s', async (_what, lines) => expectRefusal(await refusing.stack.api().raw(lines), 400, /./));

  it('of an unknown method', async () => {
    const answer = await refusing.stack.api().raw(['FOO /v1/emails HTTP/1.1', 'Host: x']);
    expectRefusal(answer, 405, /^FOO is not possible here; use GET or HEAD or POST$/);
    expect(answer.headers.get('Allow')).toBe('GET, HEAD, POST');
  });
});

/** Posts a valid email with exactly these header lines besides the required ones. */
function post(lines: readonly string[]): Promise<Answer> {
  const body = JSON.stringify(validEmail());
  const { stack } = refusing;
  const head = [
    `Content-Length: ${body.length}`,
    `Authorization: Bearer ${stack.tenant.keys.apiUser}`,
    ...lines,
  ];
  return stack.api().raw(['POST /v1/emails HTTP/1.1', 'Host: x', 'Connection: close', ...head], body);
}
