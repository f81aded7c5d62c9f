import { beforeEach, describe, expect, it } from '@jest/globals';
import { CostlyLook } from './costly-look.ts';

let nowMs: number;
let look: CostlyLook;

beforeEach(() => {
  nowMs = 1_000_000;
  look = new CostlyLook(() => nowMs);
});

function take(tookMs: number, fails = false): Promise<string | undefined> {
  return look.take(() => {
    nowMs += tookMs;
    return fails ? Promise.reject(new Error('out of time')) : Promise.resolve('seen');
  });
}

describe('A costly look', () => {
  it('is taken whenever wanted as long as it is fast, and after a single one that was not', async () => {
    for (const tookMs of [500, 500, 5_000, 1, 5_000, 1]) expect(await take(tookMs)).toBe('seen');
  });

  it('is not taken for ten times as long as the shorter of two in a row that were slow, whether they failed or not', async () => {
    expect(await take(700)).toBe('seen');
    await expect(take(900, true)).rejects.toThrow('out of time');
    nowMs += 6_999;
    expect(await take(1)).toBeUndefined();
    nowMs += 1;
    expect(await take(600)).toBe('seen');
    expect(await take(1)).toBeUndefined();
    nowMs += 6_000;
    expect(await take(1)).toBe('seen');
    expect(await take(600)).toBe('seen');
    expect(await take(1)).toBe('seen');
  });

  it('knows whether the last one was fast', async () => {
    expect(look.isFast).toBe(false);
    await take(500);
    expect(look.isFast).toBe(true);
    await take(501);
    expect(look.isFast).toBe(false);
    await expect(take(1, true)).rejects.toThrow('out of time');
    expect(look.isFast).toBe(true);
  });
});
