import { describe, expect, it } from '@jest/globals';
import { DatabaseClock, sleep, within } from './time.ts';

describe('DatabaseClock', () => {
  it('goes on from the last reading, whatever this machine’s own clock says', async () => {
    const clock = new DatabaseClock();
    const lastYear = Date.now() - 365 * 24 * 3_600_000;
    clock.observe(lastYear, performance.now());
    await sleep(20);
    expect(clock.nowMs() - lastYear).toBeGreaterThanOrEqual(19);
    expect(clock.nowMs() - lastYear).toBeLessThan(2_000);
  });

  it('takes a reading to have been made halfway between question and answer', () => {
    const clock = new DatabaseClock();
    clock.observe(1_000_000, performance.now() - 200);
    expect(clock.nowMs()).toBeGreaterThanOrEqual(1_000_100);
    expect(clock.nowMs()).toBeLessThan(1_000_150);
  });
});

describe('sleep', () => {
  it('ends at once when it is aborted, before or meanwhile', async () => {
    const begun = performance.now();
    await sleep(10_000, AbortSignal.abort());
    await sleep(10_000, AbortSignal.timeout(5));
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});

describe('within', () => {
  it('gives the value, or undefined when it takes too long', async () => {
    expect(await within(Promise.resolve(1), 1_000)).toBe(1);
    expect(await within(new Promise(() => undefined), 5)).toBeUndefined();
    await expect(within(Promise.reject(new Error('no')), 1_000)).rejects.toThrow('no');
  });
});
