import { describe, it } from '@jest/globals';
import { emailIn } from '../api.ts';
import { tomorrow } from '../factories.ts';
import { type Case, casesOf, type Fault, inBody, NON_STRINGS, texts } from './cases.ts';
import { INVALID_NAMES, tooLong } from './faults/texts.ts';
import { RefusingStack, titled } from './refusing-stack.ts';

const ROUTE = 'POST /v1/emails/{email_id}/reports';

const refusing = RefusingStack.forFile(async (stack) => ({
  email_id: emailIn(await stack.send({ sendAt: tomorrow() })).id,
}));
const refuses = (_title: string, bad: Case): Promise<void> => refusing.refuses(bad);

const reporting = (what: string, body: unknown, names: string | RegExp): Case => ({
  what,
  route: ROUTE,
  body,
  status: 400,
  names,
});

/** A field of the reply of an otherwise valid report. */
const inReply = (field: string) => ({
  route: ROUTE,
  field: `reply.${field}`,
  request: (value: unknown) => ({ body: { report: 'failed', reply: { [field]: value } } }),
});

const values = (...wrong: readonly unknown[]): Fault[] =>
  wrong.map((value) => ({ what: JSON.stringify(value), value }));

describe('E19: an invalid kind of report', () => {
  const wrong = texts(
    '',
    ' ',
    'FAILED',
    'bounced',
    'bounce',
    'unrecognised',
    'failed ',
    'toString',
    'delivery',
  );
  it.each(titled(casesOf([...NON_STRINGS, ...wrong], [inBody(ROUTE, 'report')])))('%s', refuses);
  it.each(titled([reporting('none', { reply: { code: 550 } }, '`report` is missing')]))('%s', refuses);
});

describe('E19: an invalid reply', () => {
  const wrong = values(null, 550, '550 5.1.1 no', true, [], [{ code: 550 }]);
  it.each(titled(casesOf(wrong, [inBody(ROUTE, 'reply', { report: 'failed' })])))('%s', refuses);

  const codes = values(null, '550', true, {}, [550], 0, -550, 199, 300, 354, 399, 600, 605, 550.5, 1e300);
  it.each(titled(casesOf(codes, [inReply('code')])))('%s', refuses);

  const statuses = texts(
    '',
    ' ',
    '5',
    '5.1',
    '5.1.1 ',
    '5.1.1.1',
    '3.1.1',
    '5.1.1000',
    '550',
    '5,1,1',
    'V.I.I',
  );
  it.each(titled(casesOf([...NON_STRINGS, ...statuses], [inReply('enhancedCode')])))('%s', refuses);
  it.each(titled(casesOf([...NON_STRINGS, ...tooLong(10_000)], [inReply('text')])))('%s', refuses);

  it.each(
    titled(
      ['status', 'message', 'constructor', 'Code'].map((name) =>
        reporting(name, { report: 'failed', reply: { [name]: 1 } }, `\`reply.${name}\` is not a known field`),
      ),
    ),
  )('%s', refuses);
});

describe('E19: a reply that contradicts the report', () => {
  const says = (report: string, reply: object, code: number): Case =>
    reporting(`${report} ${code}`, { report, reply }, `\`reply\` has the code ${code}, but \`report\` is`);
  it.each(
    titled([
      says('failed', { code: 250 }, 250),
      says('failed', { enhancedCode: '2.0.0' }, 250),
      says('delayed', { text: '250 2.0.0 Ok' }, 250),
      says('delivered', { code: 421 }, 421),
      says('delivered', { text: 'smtp; 550 5.1.1 no' }, 550),
    ]),
  )('%s', refuses);
});

describe('E19: an invalid name of who reported it', () => {
  const wrong = [...NON_STRINGS, ...texts('', ' ', '\t'), ...tooLong(255)];
  const invisible = INVALID_NAMES.filter(({ value }) => /[\p{Cc}\p{Cf}]/u.test(String(value)));
  it.each(titled(casesOf([...wrong, ...invisible], [inBody(ROUTE, 'reportedBy', { report: 'failed' })])))(
    '%s',
    refuses,
  );
});
