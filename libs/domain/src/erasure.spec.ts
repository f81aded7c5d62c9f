import { describe, expect, it } from '@jest/globals';
import { answerWithout, isEventAbout, spellingsOf } from './erasure.ts';

describe('How an address can be written', () => {
  it('is with its domain in ASCII or not, and escaped for JSON, HTML and URLs', () => {
    expect(spellingsOf('Jo&e@xn--mller-kva.example')).toEqual([
      'jo&e@xn--mller-kva.example',
      'jo&amp;e@xn--mller-kva.example',
      'jo%26e%40xn--mller-kva.example',
      'jo%26e@xn--mller-kva.example',
      'jo&e@müller.example',
      'jo&amp;e@müller.example',
      'jo%26e%40m%c3%bcller.example',
      'jo%26e@m%c3%bcller.example',
    ]);
  });

  it('is twice where a quoted name needs a backslash in JSON', () => {
    expect(spellingsOf('"a b"@example.com')).toContain(String.raw`\"a b\"@example.com`);
  });
});

describe('An event', () => {
  it.each([
    ['of an email to the person', { email: { to: 'ADA@example.com' } }, true],
    ['of the person as a contact', { contact: { email: 'ada@Example.com' } }, true],
    ['of the person as a member', { workspace: { name: 'x' }, user: { email: 'ada@example.com' } }, true],
    [
      'of somebody who knows the person',
      { contact: { email: 'b@example.com', properties: { to: 'ada@example.com' } } },
      false,
    ],
    ['without a subject', { contact: null }, false],
  ])('%s is about the person or not', (_what, data, isAbout) => {
    expect(isEventAbout(JSON.stringify({ event: 'X', data }), 'ada@example.com')).toBe(isAbout);
  });
});

describe('The answer to a call', () => {
  it('S11: is the same without what it says of the emails to the person', () => {
    const email = { id: 'trs_1', to: 'Ada@example.com', subject: 'Dear Ada', status: 'SENT' };
    const other = { ...email, to: 'bo@example.com' };
    expect(JSON.parse(answerWithout(JSON.stringify({ emails: [email, other] }), 'ada@example.com'))).toEqual({
      emails: [{ ...email, to: '[erased]', subject: '[erased]' }, other],
    });
  });
});
