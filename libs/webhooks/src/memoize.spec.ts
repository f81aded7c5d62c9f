import { expect, it } from '@jest/globals';
import { memoize } from './memoize.ts';

it('computes each result once, and bounds the cache', () => {
  const asked: string[] = [];
  const length = memoize((text) => [asked.push(text)], 2);
  for (const text of ['a', 'b', 'a', 'c', 'b', 'a']) length(text);
  expect(asked).toEqual(['a', 'b', 'c', 'a']);
});

it('caches false results too', () => {
  let asked = 0;
  const never = memoize(() => (asked += 1) < 0, 10);
  expect([never('a'), never('a')]).toEqual([false, false]);
  expect(asked).toBe(1);
});
