import { describe, expect, it } from '@jest/globals';
import { validateEmailRequest } from './validate-email-request.ts';
import { messageFor, RAW, TEMPLATED } from './send-email.request.fixture.ts';

describe('a size', () => {
  const mebibytes = (count: number): number => count * 1024 * 1024;

  it.each([
    ['subject', 'x'.repeat(1_004), '`subject` has 1,004 characters, 6 more than the 998 allowed'],
    ['subject', '😀'.repeat(999), '`subject` has 999 characters, 1 more than the 998 allowed'],
    ['previewText', 'x'.repeat(1_001), '`previewText` has 1,001 characters, 1 more than the 1,000 allowed'],
    ['groupBy', 'x'.repeat(256), '`groupBy` has 256 characters, 1 more than the 255 allowed'],
    ['idempotencyKey', 'x'.repeat(256), '`idempotencyKey` has 256 characters, 1 more than the 255 allowed'],
    ['html', 'x'.repeat(mebibytes(5) + 1), '`html` has 5,242,881 bytes, 1 more than the 5,242,880 allowed'],
    ['html', 'ü'.repeat(mebibytes(2.5) + 1), '`html` has 5,242,882 bytes, 2 more than the 5,242,880 allowed'],
    ['text', 'x'.repeat(mebibytes(5) + 1), '`text` has 5,242,881 bytes, 1 more than the 5,242,880 allowed'],
    ['replyTo', Array(6).fill('a@b.co'), '`replyTo` has 6 items, 1 more than the 5 allowed'],
    ['replyTo', [], '`replyTo` is empty; give 1 to 5 mailboxes or leave it out'],
    [
      'contactProperties',
      Object.fromEntries(Array.from({ length: 101 }, (_, index) => [index, 1])),
      '`contactProperties` has 101 keys, 1 more than the 100 allowed',
    ],
    ['contactProperties', { a: 'x'.repeat(65_528) }, undefined],
    [
      'contactProperties',
      { a: 'x'.repeat(65_529) },
      '`contactProperties` has 65,537 bytes, 1 more than the 65,536 allowed',
    ],
    [
      'contactProperties',
      { a: 'ü'.repeat(40_000) },
      '`contactProperties` has 80,008 bytes, 14,472 more than the 65,536 allowed',
    ],
  ])('is told with what is too much: %s', (field, value, message) => {
    const body = { ...RAW, [field]: value };
    if (message === undefined) expect(validateEmailRequest(body)).toMatchObject(body);
    else expect(messageFor(body)).toBe(message);
  });

  it('bounds the variables of a template', () => {
    expect(messageFor({ ...TEMPLATED, variables: { a: 'x'.repeat(262_144) } })).toMatch(
      /^`variables` has 262,152 bytes, 8 more/,
    );
  });

  it('bounds the levels of an object', () => {
    const nested = (levels: number): unknown => (levels === 1 ? {} : { a: nested(levels - 1) });
    expect(validateEmailRequest({ ...TEMPLATED, variables: nested(32) })).toBeDefined();
    expect(messageFor({ ...TEMPLATED, variables: nested(33) })).toMatch(
      /^`variables` is nested more than 32 levels deep/,
    );
    expect(messageFor({ ...RAW, contactProperties: { a: Array(1).fill(nested(31)) } })).toMatch(
      /nested more than 32/,
    );
  });
});
