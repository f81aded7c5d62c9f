import { beforeAll, describe, expect, it } from '@jest/globals';
import { IdentityStore } from '@posthorn/database';
import { POSTHORN } from '@posthorn/domain';
import { addIdentity } from '@posthorn/use-cases/operate';
import { type Answer, emailIn } from '../api.ts';
import { newRecipient, validEmail, Stack } from '../stack.ts';

const MIB = 1024 * 1024;

const stack = Stack.forTests({ sends: false });
beforeAll(async () => {
  const { workspaceId } = stack.tenant;
  await addIdentity(new IdentityStore(stack.database), workspaceId, POSTHORN, {
    address: 'known@partner.example',
    verified: true,
  });
});

const expectTaken = ({ status, text }: Answer): void =>
  expect([status, status === 200 ? '' : text]).toEqual([200, '']);

/** An object whose JSON has exactly this number of bytes. */
const ofBytes = (bytes: number): object => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });

describe('G11: values exactly at the limits are accepted', () => {
  it.each([
    ['subject', 'x'.repeat(998)],
    ['subject', '😀'.repeat(998)],
    ['subject', 'x'],
    ['html', 'x'.repeat(5 * MIB)],
    ['html', 'é'.repeat(2.5 * MIB)],
    ['html', '😀'.repeat(1.25 * MIB)],
    ['text', 'x'.repeat(5 * MIB)],
    ['text', ''],
    ['previewText', '😀\r\n'.repeat(250)],
    ['previewText', '😀'.repeat(1_000)],
    ['previewText', ''],
    ['groupBy', '漢'.repeat(255)],
    ['groupBy', 'g'],
    ['idempotencyKey', '😀'.repeat(255)],
    ['idempotencyKey', 'k'],
    ['fromName', '😀'.repeat(255)],
    ['replyTo', Array.from({ length: 5 }, (_, n) => `a${n}@example.com`)],
    ['replyTo', ['a@example.com']],
    ['contactProperties', ofBytes(64 * 1024)],
    [
      'contactProperties',
      Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`p${n}`, 'x'.repeat(600)])),
    ],
    ['contactProperties', {}],
    ['to', `${'a'.repeat(64)}@example.com`],
    ['to', `a@${'b'.repeat(63)}.example`],
    ['to', `${'a'.repeat(64)}@${`${'b'.repeat(63)}.`.repeat(2)}${'c'.repeat(57)}.com`],
  ])('`%s`', async (field, value) => expectTaken(await stack.send({ [field]: value })));

  it('a body of 10 MiB', async () => {
    const padded = `${JSON.stringify(validEmail())}${' '.repeat(10 * MIB)}`.slice(0, 10 * MIB);
    expectTaken(await stack.api().post('/v1/emails', padded));
  });

  it.each([255, 1])('an `Idempotency-Key` header of %i', async (length) => {
    const headers = { 'Idempotency-Key': '~'.repeat(length) };
    expectTaken(await stack.send({}, { headers }));
  });
});

describe('S4: unusual but valid addresses', () => {
  it.each([
    ['to', "o'hara+tag=x!#$%&*/?^`{|}~-_@sub.example.co.uk"],
    ['to', 'jürgen@bücher.example'],
    ['to', '  "Lovelace, Ada" <ada@example.com>  '],
    ['to', '"\\"Quoted\\" \\\\ name" <ada@example.com>'],
    ['to', 'Ada<ada@example.com>'],
    ['to', 'ada@123.example'],
    ['to', '用户@例え.テスト'],
    ['to', 'क्‍ष <a@example.com>'],
    ['to', '👩‍👩‍👧 <a@example.com>'],
    ['from', 'known@PARTNER.example'],
    ['from', 'a@EXAMPLE.com'],
    ['from', '"<script>" <a@example.com>'],
  ])('`%s`: %s', async (field, value) => expectTaken(await stack.send({ [field]: value })));

  it('treats all spellings of an international domain as the same', async () => {
    const local = newRecipient().split('@')[0]!;
    const spellings = [
      'bücher.example',
      'bu\u0308cher.example',
      'BÜCHER.EXAMPLE',
      'xn--bcher-kva.example',
      'XN--BCHER-KVA.example',
    ];
    for (const domain of spellings) {
      const answer = await stack.send({ to: `${local}@${domain}` });
      expect(emailIn(answer).to).toBe(`${local}@xn--bcher-kva.example`);
    }
  });
});

describe('G2: other valid forms of a request', () => {
  it.each(['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"', 'application/json ; x=y'])(
    'a Content-Type of %s',
    async (type) => expectTaken(await stack.send({}, { headers: { 'Content-Type': type } })),
  );

  it('a byte order mark before the JSON', async () => {
    expectTaken(await stack.api().post('/v1/emails', `\ufeff${JSON.stringify(validEmail())}`));
  });

  it('A1: the scheme of the credential in another letter case', async () => {
    const headers = { Authorization: `bEARER ${stack.tenant.keys.apiUser}` };
    expectTaken(await stack.send({}, { key: null, headers }));
  });

  it('a body in many small pieces', async () => {
    const pieces = [...JSON.stringify(validEmail())].map((letter) => `1\r\n${letter}\r\n`).join('');
    const head = [
      'POST /v1/emails HTTP/1.1',
      'Host: x',
      'Connection: close',
      'Content-Type: application/json',
      `Authorization: Bearer ${stack.tenant.keys.apiUser}`,
      'Transfer-Encoding: chunked',
    ];
    expectTaken(await stack.api().raw(head, `${pieces}0\r\n\r\n`));
  });
});

describe('G11: unusual but valid characters', () => {
  const odd = [
    '\u202eabc',
    'a\u200bb',
    '\u{10ffff}',
    '\ufffe',
    'e\u0301',
    '\u{e0041}',
    'ﬁ',
    '\u2028',
    '\u00a0',
    '😀',
  ];
  it.each(
    odd.flatMap((text) =>
      ['subject', 'html', 'text', 'previewText', 'groupBy'].map((field) => [field, text]),
    ),
  )('`%s`: %j', async (field, text) => {
    const answer = await stack.send({ [field]: `x${text}` });
    expectTaken(answer);
    // What is repeated is repeated as it was given, in no other form of Unicode.
    const { [field as 'groupBy']: repeated = `x${text}` } = emailIn(answer);
    expect(repeated).toBe(`x${text}`);
  });

  it('S11: treats two Unicode forms of one letter as two keys', async () => {
    const answers = [
      await stack.send({ idempotencyKey: 'caf\u00e9' }),
      await stack.send({ idempotencyKey: 'cafe\u0301' }),
    ];
    expect(new Set(answers.map((answer) => emailIn(answer).id)).size).toBe(2);
  });
});
