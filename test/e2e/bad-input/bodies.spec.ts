import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../api.ts';
import { validEmail } from '../stack.ts';
import type { Case } from './cases.ts';
import { expectRefusal } from './refusal.ts';
import { RefusingStack, titled } from './refusing-stack.ts';

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
  it.each(titled(cases))('%s', refuses);

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

describe('G2: JSON that is too deep, has too many values or keys, or has a key twice', () => {
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
  const members = Array.from({ length: 250_001 }, (_, at) => `"k${at}":0`);
  const manyKeys = withBody(`${members.length} keys`, {
    body: `{"emails":[{${members.join()}}]}`,
    status: 400,
    names: ',000 keys; spread them over several requests',
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
  it.each(titled([...levels, ...many, ...manyKeys, ...twice]))('%s', refuses);
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
    expectRefusal(answer, 405, /^FOO is not allowed here; use GET or HEAD or POST$/);
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
