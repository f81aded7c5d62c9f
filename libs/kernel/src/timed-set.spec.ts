import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { TimedSet } from './timed-set.ts';

describe('TimedSet', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: 0 });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('has a member for a while after it was added last', () => {
    const set = new TimedSet<string>(2, 1_000);
    expect(set.has('a')).toBe(false);
    set.add('a');
    jest.advanceTimersByTime(600);
    set.add('a');
    jest.advanceTimersByTime(999);
    expect(set.has('a')).toBe(true);
    jest.advanceTimersByTime(1);
    expect(set.has('a')).toBe(false);
  });

  it('gives up the member that was added the longest ago for one too many', () => {
    const set = new TimedSet<string>(2, 1_000);
    for (const member of ['a', 'b', 'c']) set.add(member);
    expect(['a', 'b', 'c'].map((member) => set.has(member))).toEqual([false, true, true]);
  });
});
