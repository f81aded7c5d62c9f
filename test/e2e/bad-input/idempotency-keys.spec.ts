import { randomUUID } from 'node:crypto';
import { describe, it } from '@jest/globals';
import { validEmail } from '../stack.ts';
import { type Case, casesOf, inRawEmail, NON_STRINGS, type RequestField, shown, texts } from './cases.ts';
import { CONTROLS, tooLong } from './faults/texts.ts';
import { expectRefusal } from './refusal.ts';
import { RefusingStack, titled } from './refusing-stack.ts';

const refusing = RefusingStack.forFile();
const refuses = (_title: string, bad: Case): Promise<void> => refusing.refuses(bad);

const inHeader: RequestField = {
  route: 'POST /v1/emails',
  field: 'Idempotency-Key',
  request: (key) => ({ body: validEmail(), headers: { 'Idempotency-Key': key as string } }),
};

describe('S11: invalid idempotency keys', () => {
  const inField = [
    ...texts('', '\n', 'k\n', '\tk', 'k\r\nIdempotency-Key: other'),
    ...CONTROLS.flatMap((control) => texts(`k${control}`)),
    ...tooLong(255),
    ...NON_STRINGS,
  ];
  it.each(titled(casesOf(inField, [inRawEmail('idempotencyKey')])))('%s', refuses);

  // Only Latin-1, because clients can put nothing else into a header.
  const latin = Array.from({ length: 0x5f }, (_, n) => `k${String.fromCodePoint(0xa1 + n)}`);
  const inHeaderLine = [
    ...texts('', ' ', '   ', 'x'.repeat(256), 'x'.repeat(5_000), 'a\tb'),
    ...texts(...latin),
  ].map((fault) => ({
    ...fault,
    says: 'The `Idempotency-Key` header must have 1 to 255 printable ASCII characters',
  }));
  it.each(titled(casesOf(inHeaderLine, [inHeader])))('%s', refuses);
});

describe('S11: a field and a header that differ', () => {
  const pairs: [string, string][] = [
    ...([
      ['one', 'two'],
      ['a', 'A'],
      ['a', 'a.'],
      ['1', '01'],
      ['a b', 'a  b'],
      ['ä', 'a'],
      ['"a"', 'a'],
    ] as [string, string][]),
    ['x'.repeat(255), 'x'.repeat(254)],
    [`${randomUUID()} `, randomUUID()],
  ];
  const cases = pairs.map(([field, header]): Case => ({
    what: `${shown(field)} and ${shown(header)}`,
    route: 'POST /v1/emails',
    body: { ...validEmail(), idempotencyKey: field },
    headers: { 'Idempotency-Key': header },
    status: 400,
    names: '`idempotencyKey` and the `Idempotency-Key` header differ',
  }));
  it.each(titled(cases))('%s', refuses);
});

describe('S11: more than one header', () => {
  it.each([
    ['the same twice', ['a', 'a']],
    ['two', ['a', 'b']],
    ['one of them empty', ['', 'a']],
    ['a hundred', Array(100).fill('a')],
  ] as [string, string[]][])('%s', async (_what, keys) => {
    const body = JSON.stringify(validEmail());
    const answer = await refusing.stack
      .api()
      .raw(
        [
          'POST /v1/emails HTTP/1.1',
          'Host: x',
          'Connection: close',
          'Content-Type: application/json',
          `Content-Length: ${body.length}`,
          `Authorization: Bearer ${refusing.stack.tenant.keys.apiUser}`,
          ...keys.map((key, n) => `${n % 2 ? 'idempotency-key' : 'Idempotency-Key'}: ${key}`),
        ],
        body,
      );
    expectRefusal(answer, 400, 'more than one `Idempotency-Key` header');
  });
});
