import { describe, expect, it } from '@jest/globals';
import { BoundedMap } from './bounded-map.ts';

describe('BoundedMap', () => {
  it('evicts the entry that was set the longest ago, whatever was read since', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1).set('b', 2);
    expect(map.get('a')).toBe(1);
    map.set('c', 3);
    expect([...map]).toEqual([
      ['b', 2],
      ['c', 3],
    ]);
  });

  it('makes an entry that is set again the newest, and evicts nothing for it', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1).set('b', 2).set('a', 3);
    expect(map.size).toBe(2);
    map.set('c', 4);
    expect([...map.keys()]).toEqual(['a', 'c']);
  });

  it('evicts no more than necessary, also for a key that is undefined', () => {
    const map = new BoundedMap<string | undefined, number>(2);
    map.set(undefined, 1).set('a', 2).set('b', 3);
    expect([...map.keys()]).toEqual(['a', 'b']);
  });
});
