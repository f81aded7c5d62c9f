import { describe, expect, it } from '@jest/globals';
import { count, formatDuration, textInUtc, time, timeInUtc } from './components.ts';

describe('times on pages', () => {
  it('are in UTC, to the second', () => {
    const moment = new Date('2026-01-02T03:04:05.678Z');
    const attributes = 'datetime="2026-01-02T03:04:05.678Z" title="2026-01-02T03:04:05.678Z"';
    expect(time(moment).text).toBe(`<time ${attributes}>2026-01-02 03:04:05</time>`);
    expect(timeInUtc(moment).text).toBe(`<time ${attributes}>2026-01-02 03:04:05 UTC</time>`);
    expect(textInUtc(moment)).toBe('2026-01-02 03:04:05 UTC');
    expect(time(null).text).toBe('–');
  });

  it.each([
    ['infinity, as pg reads it', Number.NEGATIVE_INFINITY as unknown as Date, '-Infinity'],
    ['infinity, as Prisma reads it', new Date(Number.NaN), 'Invalid Date'],
  ])('are a word where the database has no date: %s', (_what, moment, word) => {
    expect(time(moment).text).toBe(word);
  });
});

describe('numbers on pages', () => {
  it('have thousands separators', () => {
    expect([0, 999, 1_000, 1_234_567].map(count)).toEqual(['0', '999', '1,000', '1,234,567']);
  });

  it.each([
    [0, '0 s'],
    [0.4, '0 s'],
    [90, '90 s'],
    [119, '119 s'],
    [120, '2 min'],
    [7_199, '119 min'],
    [7_200, '2 h'],
    [2 * 86_400 - 1, '47 h'],
    [2 * 86_400, '2 d'],
    [1_500 * 86_400, '1,500 d'],
  ])('give %d seconds as %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});
