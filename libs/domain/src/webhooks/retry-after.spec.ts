import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readRetryAfter } from './retry-after.ts';

const NOW = new Date('2026-03-04T05:06:07.500Z');
const read = (text: string): number | undefined => readRetryAfter(text, NOW);

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['120', 120],
    [' 120 ', 120],
    ['007', 7],
    ['9'.repeat(20), 1e20],
    ['9'.repeat(400), Infinity],
  ])('W8: %s is a number of seconds', (text, seconds) => {
    expect(read(text)).toBe(seconds);
  });

  it.each([
    'Wed, 04 Mar 2026 05:07:07 GMT',
    'Wednesday, 04-Mar-26 05:07:07 GMT',
    'Wed Mar  4 05:07:07 2026',
    'Mon, 04 Mar 2026 05:07:07 GMT', // a wrong day of the week deceives nobody
  ])('W8: %s is a date, and is converted to whole seconds from now', (text) => {
    expect(read(text)).toBe(60);
  });

  it('W8: a date in the past requests no delay', () => {
    expect(read('Wed, 04 Mar 2026 05:06:07 GMT')).toBe(0);
    expect(read('Thu, 01 Jan 1970 00:00:00 GMT')).toBe(0);
  });

  it('W8: a year with two digits is at most 50 years ahead', () => {
    expect(read('Sunday, 06-Nov-94 08:49:37 GMT')).toBe(0);
    expect(read('Wednesday, 04-Mar-76 05:06:07 GMT')).toBeGreaterThan(49 * 365 * 86_400);
    expect(read('Thursday, 04-Mar-77 05:06:07 GMT')).toBe(0);
  });

  it.each([
    '',
    'soon',
    '-5',
    '+5',
    '1.5',
    '1e9',
    '0x10',
    '120, 240',
    '12 0',
    '１２０',
    'Infinity',
    'NaN',
    '2026-03-04T06:00:00Z',
    'Wed, 04 Mar 2026 05:07:07 +0100',
    'Wed, 04 Mar 2026 25:07:07 GMT',
    'Wed, 4 Mar 2026 05:07:07 GMT',
    'wed, 04 mar 2026 05:07:07 gmt',
    'Wed, 04 Mar 2026 05:07:07 GMT, 120',
  ])('W8: %j is ignored', (text) => {
    expect(read(text)).toBeUndefined();
  });

  it('W8: any text is either a delay or ignored', () => {
    const written = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.date().map(String));
    fc.assert(
      fc.property(written, (text) => {
        const seconds = read(text);
        return seconds === undefined || seconds >= 0;
      }),
    );
  });
});
