import { describe, expect, it } from '@jest/globals';
import { redactAnswer, isEventAbout, addressPattern, addressSpellings } from './erasure.ts';

describe('The spellings of an address', () => {
  it('have its domain in ASCII or Unicode, and escapes of JSON, HTML and URLs', () => {
    expect(addressSpellings('Jo&e@xn--mller-kva.example')).toEqual([
      'jo&e@xn--mller-kva.example',
      'jo&amp;e@xn--mller-kva.example',
      'jo%26e%40xn--mller-kva.example',
      'jo%26e@xn--mller-kva.example',
      String.raw`jo\u0026e@xn--mller-kva.example`,
      'jo&e@müller.example',
      'jo&amp;e@müller.example',
      'jo%26e%40m%c3%bcller.example',
      'jo%26e@m%c3%bcller.example',
      String.raw`jo\u0026e@müller.example`,
    ]);
  });

  it.each([
    ['of Razor', 'o&#x27;hara&#x2b;shop=a@example.com'],
    ['of Handlebars', 'o&#x27;hara+shop&#x3d;a@example.com'],
    ['of Go', 'o&#39;hara&#43;shop=a@example.com'],
    ['of PHP', 'o&#39;hara+shop=a@example.com'],
    ['of .NET in JSON', String.raw`o\u0027hara\u002bshop=a@example.com`],
  ])('include those %s', (_whose, spelling) => {
    expect(addressSpellings("O'Hara+shop=a@example.com")).toContain(spelling);
  });

  it('are two where a quoted name needs a backslash in JSON', () => {
    expect(addressSpellings('"a b"@example.com')).toContain(String.raw`\"a b\"@example.com`);
  });
});

describe('An address', () => {
  const isFoundIn = (text: string): boolean =>
    new RegExp(addressPattern(addressSpellings('ada@example.com')), 'i').test(text);

  it.each([
    JSON.stringify('x\nada@example.com\n+49'),
    JSON.stringify('x\tada@example.com\tx'),
    JSON.stringify('x\rada@example.com\rx'),
    JSON.stringify('x\bada@example.com\bx'),
    JSON.stringify('x\fada@example.com\fx'),
    JSON.stringify(JSON.stringify('x\nada@example.com\nx')),
    String.raw`x\u003cada@example.com\u003e`,
    String.raw`x\u003Cada@example.com\u003E`,
    'x%3Cada%40example.com%3E',
    'x%3cada%40example.com%3e',
    'mailto%3Aada%40example.com%3Fsubject',
    '%20ada@example.com%20',
    '%C2%A0ada%40example.com%C2%A0',
    'https://x.example/?q=to+ada%40example.com',
  ])('is found after an escape: %s', (text) => {
    expect(isFoundIn(text)).toBe(true);
  });

  it.each([
    'x%2Bada%40example.com',
    'x%2Eada%40example.com',
    '%62ada%40example.com',
    'x+ada@example.com',
    'x&#x2B;ada@example.com',
    'x&#43;ada@example.com',
    String.raw`\u0062ada@example.com`,
    String.raw`\nbada@example.com`,
    '%3Cbada%40example.com',
    '%3Cada%40example.com.au',
  ])('is not found inside a longer one that is escaped: %s', (text) => {
    expect(isFoundIn(text)).toBe(false);
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

describe('The stored response', () => {
  it('S11: is the same, with the data of emails to the person redacted', () => {
    const email = {
      id: 'trs_1',
      to: 'Ada@example.com',
      subject: 'Dear Ada',
      groupBy: 'ada-7',
      status: 'SENT',
    };
    const other = { ...email, to: 'bo@example.com' };
    expect(JSON.parse(redactAnswer(JSON.stringify({ emails: [email, other] }), 'ada@example.com'))).toEqual({
      emails: [{ ...email, to: '[erased]', subject: '[erased]', groupBy: '[erased]' }, other],
    });
  });

  it('does not keep the name of the person where a failed item shows its recipient as the caller wrote it', () => {
    const failed = { index: 0, to: 'Ada Lovelace <ada@EXAMPLE.com>', error: { statusCode: 400 } };
    const other = { ...failed, index: 1, to: 'Bo <bo@example.com>' };
    expect(
      JSON.parse(redactAnswer(JSON.stringify({ emails: { failed: [failed, other] } }), 'ada@example.com')),
    ).toEqual({ emails: { failed: [{ ...failed, to: '[erased]' }, other] } });
  });
});
