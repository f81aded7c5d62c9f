import { describe, expect, it } from '@jest/globals';
import { LruCache } from './lru-cache.ts';

interface Sized {
  readonly size: number;
}

const of = (size: number): Sized => ({ size });
const bySize = (max: number): LruCache<string, Sized> =>
  new LruCache(10, { maxSize: max, sizeOf: ({ size }) => size });

/** Which of the keys are kept. Reading them changes which is evicted next. */
const keptOf = (cache: LruCache<string, Sized>, keys: string): string =>
  [...keys].filter((key) => cache.get(key) !== undefined).join('');

describe('LruCache', () => {
  it('keeps values by their keys', () => {
    const cache = new LruCache<string, Sized>(2);
    const value = of(1);
    cache.set('a', value);
    expect(cache.get('a')).toBe(value);
    expect(cache.get('b')).toBeUndefined();
  });

  it('evicts the entry that was read or set the longest ago', () => {
    const cache = new LruCache<string, Sized>(3);
    for (const key of 'abc') cache.set(key, of(1));
    cache.get('a');
    cache.set('b', of(1));
    cache.set('d', of(1));
    expect(keptOf(cache, 'abcd')).toBe('abd');
  });

  it('evicts nothing for a key that it has not, nor for one that is set again', () => {
    const cache = new LruCache<string, Sized>(2);
    cache.set('a', of(1));
    cache.set('b', of(1));
    cache.get('c');
    cache.set('b', of(2));
    expect(keptOf(cache, 'abc')).toBe('ab');
    expect(cache.get('b')).toEqual(of(2));
  });

  it('evicts as many entries as the size of a new one takes, and no more', () => {
    const cache = bySize(10);
    for (const [key, size] of Object.entries({ a: 3, b: 3, c: 4, d: 5 })) cache.set(key, of(size));
    expect(keptOf(cache, 'abcd')).toBe('cd');
    cache.set('e', of(1));
    expect(keptOf(cache, 'cde')).toBe('cde');
  });

  it('counts only what it keeps: neither evicted nor replaced values, and none twice', () => {
    const cache = bySize(10);
    for (let n = 0; n < 20; n += 1) cache.set(`${n}`, of(4));
    for (const size of [4, 1, 4]) cache.set('a', of(size));
    for (const _again of [1, 2, 3]) cache.get('a');
    cache.set('b', of(6));
    expect(keptOf(cache, 'ab')).toBe('ab');
    cache.set('c', of(1));
    expect(keptOf(cache, 'abc')).toBe('bc');
  });

  it('does not keep a value that is too large by itself, nor what it was to replace', () => {
    const cache = bySize(10);
    cache.set('a', of(1));
    cache.set('a', of(11));
    expect(keptOf(cache, 'a')).toBe('');
    cache.set('b', of(10));
    expect(keptOf(cache, 'b')).toBe('b');
  });
});
