import { describe, it } from '@jest/globals';
import { type Case, casesOf, type Fault, inRawEmail } from './cases.ts';
import { tooLong } from './faults/texts.ts';
import { expectRefusal } from './refusal.ts';
import { RefusingStack, titled } from './refusing-stack.ts';

const refusing = RefusingStack.forFile();
const refuses = (_title: string, bad: Case): Promise<void> => refusing.refuses(bad);
const MIB = 1024 * 1024;

describe('G11: contents that are too large', () => {
  const faults: Fault[] = [
    {
      what: '5 MiB and a byte',
      value: 'x'.repeat(5 * MIB + 1),
      says: 'has 5,242,881 bytes, 1 more than the 5,242,880',
    },
    {
      what: 'umlauts',
      value: 'é'.repeat(2.5 * MIB + 7),
      says: 'has 5,242,894 bytes, 14 more than the 5,242,880',
    },
    {
      what: 'emojis',
      value: '😀'.repeat(1.25 * MIB + 1),
      says: 'has 5,242,884 bytes, 4 more than the 5,242,880',
    },
    {
      what: 'a mixture',
      value: '\t'.repeat(MIB) + 'x'.repeat(4 * MIB - 10) + '漢'.repeat(4),
      says: 'has 5,242,882 bytes, 2 more',
    },
  ];
  it.each(titled(casesOf(faults, [inRawEmail('html'), inRawEmail('text')])))('%s', refuses);
});

describe('G11: texts that are too long', () => {
  const sizes: [string, number][] = [
    ['subject', 998],
    ['previewText', 1_000],
    ['groupBy', 255],
    ['idempotencyKey', 255],
  ];
  for (const [field, max] of sizes) {
    it.each(titled(casesOf(tooLong(max), [inRawEmail(field)])))('%s', refuses);
  }
});

describe('G11, G2: a body over 10 MiB', () => {
  const post = (lines: readonly string[]): string[] => [
    'POST /v1/emails HTTP/1.1',
    'Host: x',
    'Connection: close',
    'Content-Type: application/json',
    `Authorization: Bearer ${refusing.stack.tenant.keys.apiUser}`,
    ...lines,
  ];
  const spaces = ' '.repeat(10 * MIB + 1);

  it.each([
    ['announced', `Content-Length: ${10 * MIB + 1}`, spaces, 'has 10,485,761 bytes, 1 more than'],
    [
      'in one piece',
      'Transfer-Encoding: chunked',
      `${spaces.length.toString(16)}\r\n${spaces}\r\n0\r\n\r\n`,
      'is larger than',
    ],
    [
      'in pieces',
      'Transfer-Encoding: chunked',
      `${`100000\r\n${' '.repeat(MIB)}\r\n`.repeat(11)}0\r\n\r\n`,
      'is larger than',
    ],
    [
      'only announced',
      'Content-Length: 99999999999',
      '{',
      'has 99,999,999,999 bytes, 99,989,514,239 more than',
    ],
  ])('%s', async (_what, line, body, says) => {
    const answer = await refusing.stack.api().raw(post([line]), body);
    expectRefusal(answer, 413, `The body ${says} the 10 MiB (10,485,760 bytes) allowed here; make it`);
  });

  it('headers over 16 KiB', async () => {
    const answer = await refusing.stack.send({}, { headers: { 'X-Long': 'x'.repeat(20_000) } });
    expectRefusal(answer, 431, 'The headers are larger than 16 KiB');
  });
});
