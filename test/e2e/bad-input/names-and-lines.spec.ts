import { describe, it } from '@jest/globals';
import { type Case, casesOf, inBody, inRawEmail, NON_STRINGS, type RequestField, texts } from './cases.ts';
import { CONTROLS, INVALID_HEADER_LINES, INVALID_NAMES, INVISIBLE, tooLong } from './faults/texts.ts';
import { RefusingStack, titled } from './refusing-stack.ts';

const refusing = RefusingStack.forFile();
const refuses = (_title: string, bad: Case): Promise<void> => refusing.refuses(bad);

describe('S4, S5: invalid display names', () => {
  const quoted = (name: unknown): unknown => `"${String(name)}" <a@example.com>`;
  const bare = (name: unknown): unknown => `${String(name)} <a@example.com>`;
  const alone = casesOf(
    [...texts('', ' ', '   ', '\u00a0', '\u3000'), ...INVALID_NAMES, ...NON_STRINGS],
    [inRawEmail('fromName')],
  );
  const besideAnAddress = casesOf(INVALID_NAMES, [
    ...['from', 'to', 'replyTo'].flatMap((field) => [inRawEmail(field, quoted), inRawEmail(field, bare)]),
  ]);
  it.each(titled(alone))('%s', refuses);
  it.each(titled(besideAnAddress))('%s', refuses);
});

describe('S4: a name that would have to be quoted', () => {
  const names = texts(
    'A, B',
    'A; B',
    'A: B',
    'A (B)',
    'A@B',
    'A [B]',
    'A \\ B',
    'A, B, C',
    'A. B, C',
    'A)',
    '(A',
    ']',
    ',',
    '@',
  );
  const places = ['from', 'to', 'replyTo'].map((field) =>
    inRawEmail(field, (name) => `${String(name)} <a@example.com>`),
  );
  it.each(titled(casesOf(names, places)))('%s', refuses);
});

describe('S4, G11: invalid header lines', () => {
  const inTemplatedEmail: RequestField = {
    route: 'POST /v1/emails',
    field: 'template',
    request: (template) => ({ body: { template, to: 'a@example.com' } }),
  };
  const places: [RequestField, number][] = [
    [inRawEmail('subject'), 998],
    [inRawEmail('groupBy'), 255],
    [inRawEmail('idempotencyKey'), 255],
    [inTemplatedEmail, 255],
  ];
  for (const [place, max] of places) {
    it.each(titled(casesOf([...INVALID_HEADER_LINES, ...tooLong(max), ...NON_STRINGS], [place])))(
      '%s',
      refuses,
    );
  }
});

describe('the name of a template', () => {
  const names = [
    ...texts('', ' ', '\u00a0', '\t', '\u3000\u2003'),
    ...CONTROLS.flatMap((control) => texts(`a${control}b`)),
    ...INVISIBLE.flatMap((character) => texts(`a${character}b`)),
    ...tooLong(255),
    ...NON_STRINGS,
  ];
  const places = [
    inBody('POST /v1/templates', 'name', { subject: 'x', html: 'x', from: 'a@example.com' }),
    inBody('POST /v1/templates/{template_id}', 'name'),
  ];
  it('must be visible, and have 1 to 255 characters', () => refusing.refusesAll(casesOf(names, places)));
});
