import { describe, expect, it } from '@jest/globals';
import type { SmtpReply } from '../delivery.ts';
import { parseStatedReport, STATED_REPORT_KINDS, type StatedReply } from './stated-report.ts';

const GMAIL = 'The email account that you tried to reach does not exist.';
const unknownUser: SmtpReply = { code: 550, enhancedCode: '5.1.1', text: GMAIL };

/** The reply of a failure for which this is stated. */
function failedWith(reply: StatedReply): unknown {
  const parsed = parseStatedReport({ kind: 'failed', reply });
  return 'fault' in parsed ? parsed.fault : parsed.reply;
}

describe('a stated report', () => {
  it.each<[string, StatedReply, SmtpReply]>([
    ['SES', { enhancedCode: '5.1.1', text: `smtp; 550 5.1.1 ${GMAIL}` }, unknownUser],
    ['SendGrid', { enhancedCode: '5.1.1', text: `550 5.1.1 ${GMAIL}` }, unknownUser],
    ['Mailgun', { code: 550, enhancedCode: '5.1.1', text: `5.1.1 ${GMAIL}` }, unknownUser],
    ['Postmark', { text: `smtp;550 5.1.1 ${GMAIL}` }, unknownUser],
    ['a server that repeats its codes', { text: `550-5.1.1 ${GMAIL}\r\n550 5.1.1\r\n` }, unknownUser],
    ['a caller that states all of it', { code: 550, enhancedCode: '5.1.1', text: GMAIL }, unknownUser],
    [
      'a caller that states only the status',
      { enhancedCode: '5.1.1' },
      { ...unknownUser, code: 554, text: '' },
    ],
    ['a caller that states only the code', { code: 550 }, { code: 550, text: '' }],
    ['a caller that states only a text', { text: 'no MX record' }, { code: 554, text: 'no MX record' }],
    ['a code that the text contradicts', { code: 552, text: '550 no' }, { code: 552, text: '550 no' }],
    ['a status of another class', { code: 550, enhancedCode: '4.2.2' }, { code: 550, text: '' }],
    [
      'a known text',
      { enhancedCode: '5.1.1', text: '550 listed at Spamhaus' },
      { code: 550, text: 'listed at Spamhaus' },
    ],
  ])('has the reply of %s', (_who, stated, reply) => {
    expect(failedWith(stated)).toEqual(reply);
  });

  it('has none if nothing is stated', () => {
    for (const reply of [undefined, {}, { text: '' }, { text: ' \n' }])
      expect(parseStatedReport({ kind: 'failed', reply })).toEqual({
        kind: 'failed',
        isAboutRecipient: true,
      });
  });

  it('has a reply without control and invisible characters, of at most 512 characters', () => {
    const text = `550 a\0b\r\nc\u202ed\u200b${'x'.repeat(9_000)}`;
    const { text: kept } = failedWith({ text }) as SmtpReply;
    expect(kept).toMatch(/^a b c d x+$/);
    expect(kept).toHaveLength(512);
  });

  it('names who reported it', () => {
    expect(parseStatedReport({ kind: 'complaint', reportedBy: 'Amazon SES' })).toEqual({
      kind: 'complaint',
      isAboutRecipient: true,
      reportedBy: 'Amazon SES',
    });
  });

  it.each([
    ['failed', 250],
    ['delayed', 250],
    ['delivered', 450],
    ['delivered', 550],
  ] as const)('cannot be %s with the code %i', (kind, code) => {
    expect(parseStatedReport({ kind, reply: { code } })).toEqual({
      fault: `\`reply\` has the code ${code}, but \`report\` is \`${kind}\`; correct one of them`,
    });
  });

  it.each(STATED_REPORT_KINDS)('can be %s with a text that has no code', (kind) => {
    expect(parseStatedReport({ kind, reply: { text: 'in words' } })).toMatchObject({
      kind,
      reply: { text: 'in words' },
    });
  });
});
