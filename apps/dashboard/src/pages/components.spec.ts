import { describe, expect, it } from '@jest/globals';
import { count, formatDuration } from './components.ts';

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
