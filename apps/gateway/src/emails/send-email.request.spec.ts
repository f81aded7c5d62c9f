import { describe, expect, it } from '@jest/globals';
import { isTemplated, validateEmailRequest } from './validate-email-request.ts';
import { messageFor, RAW, refusalOf, TEMPLATED } from './send-email.request.fixture.ts';

describe('the shape of an email', () => {
  it.each([
    ['the least', {}],
    ['a name', { fromName: 'The Shop' }],
    ['no plain text', { text: '' }],
    ['no preview', { previewText: '' }],
    ['a preview of several lines', { previewText: 'one\ntwo' }],
    ['one reply address', { replyTo: 'Help <help@example.com>' }],
    [
      'five reply addresses',
      { replyTo: Array.from({ length: 5 }, (_, index) => `help${index}@example.com`) },
    ],
    [
      'properties of every kind',
      { contactProperties: { 'a': 'x', 'b': 1, 'c': true, 'd': null, 'e': { f: [1] }, '': '' } },
    ],
    ['no properties', { contactProperties: {} }],
    ['settings', { settings: { trackClicks: false, trackOpens: true } }],
    ['empty settings', { settings: {} }],
    ['a group', { groupBy: 'spring sale/ü' }],
    [
      'a time that is long past, since only a new request is judged by the time',
      { sendAt: '2001-01-01T00:00:00Z' },
    ],
    ['a key', { idempotencyKey: 'order-1' }],
    ['the longest subject', { subject: '😀'.repeat(998) }],
    ['the largest HTML', { html: 'x'.repeat(5 * 1024 * 1024) }],
  ])('is sound with %s', (_, more) => {
    const request = validateEmailRequest({ ...RAW, ...more });
    expect(isTemplated(request)).toBe(false);
    expect({ ...request }).toEqual({ ...RAW, ...more });
  });

  it.each([
    ['the least', {}],
    ['variables', { variables: { name: 'Ada', items: [{ price: 1.5 }] } }],
    [
      'the rest',
      { settings: {}, groupBy: 'g', sendAt: '2030-01-01T00:00:00Z', idempotencyKey: 'k', replyTo: 'a@b.co' },
    ],
  ])('is sound as a templated one with %s', (_, more) => {
    const request = validateEmailRequest({ ...TEMPLATED, ...more });
    expect(isTemplated(request)).toBe(true);
    expect({ ...request }).toEqual({ ...TEMPLATED, ...more });
  });

  it.each([[undefined], [null], [[]], [[RAW]], ['x'], [1], [true]])('is not %j', (body) => {
    const { statusCode, message, details } = refusalOf(body);
    expect([statusCode, details.docsPage]).toEqual([400, 'invalid-payload']);
    expect(message).toMatch(
      /give an object; a raw email requires `from`, `to`, `subject` and `html`; a templated/,
    );
  });

  it.each([
    ['raw', RAW, ['from', 'to', 'subject', 'html']],
    ['templated', TEMPLATED, ['to']],
  ])('lists what both kinds require when a %s email lacks a field', (_, sound, required) => {
    for (const field of required) {
      const { message, details } = refusalOf({ ...sound, [field]: undefined });
      expect(message).toMatch(
        new RegExp(`^\`${field}\` is missing; .*\`from\`.*\`subject\`.*\`template\`, \`to\`.*\`variables\``),
      );
      expect(details.docsPage).toBe('invalid-payload');
    }
  });

  it.each([
    [
      'to',
      ['a@b.co'],
      'is an array; give one recipient as a string; send each their own email, up to 50 in a batch',
    ],
    [
      'to',
      { email: 'a@b.co' },
      'is an object; give a string, such as `ada@example.com` or `Ada <ada@example.com>`',
    ],
    [
      'from',
      { email: 'a@b.co', name: 'A' },
      'is an object; give a string, such as `ada@example.com` or `Ada <ada@example.com>`',
    ],
    ['replyTo', 'a@b.co, c@d.co', 'names more than one mailbox; give several in an array'],
    ['replyTo', { email: 'a@b.co' }, 'is an object; give a string or an array of strings'],
  ])('says of `%s` in the form of another service (%j) how it is written here', (field, value, fault) => {
    expect(messageFor({ ...RAW, [field]: value }).startsWith(`\`${field}\` ${fault}`)).toBe(true);
  });

  it('reports all faults at once', () => {
    expect(
      messageFor({
        to: 'x',
        subject: 5,
        html: '',
        sendat: '2030-01-01T00:00:00Z',
        settings: { trackOpens: 1 },
      }).split('; '),
    ).toEqual(
      expect.arrayContaining([
        '`from` is missing',
        expect.stringMatching(/^`to` has no `@`/),
        '`subject` is a number',
        '`html` is empty',
        '`settings.trackOpens` is a number',
        '`sendat` is not a known field',
        'did you mean `sendAt`?',
      ]),
    );
  });
});
