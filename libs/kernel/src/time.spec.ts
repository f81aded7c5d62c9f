import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DatabaseClock, startTimeout, sleep, within } from './time.ts';

const A_DAY_MS = 86_400_000;

/** Nothing is heard meanwhile: no timer runs, no socket is read. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('DatabaseClock', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('goes on from the last reading, whatever this machine’s own clock says', () => {
    const clock = new DatabaseClock();
    const lastYear = Date.now() - 365 * 24 * 3_600_000;
    clock.observe(lastYear, performance.now());
    jest.advanceTimersByTime(20);
    expect(clock.nowMs() - lastYear).toBeCloseTo(20);
  });

  it('takes a reading to have been made halfway between question and answer', () => {
    const clock = new DatabaseClock();
    clock.observe(1_000_000, performance.now() - 200);
    expect(clock.nowMs()).toBeCloseTo(1_000_100);
  });

  it('passes over a reading that is less sure, until it could itself have strayed as far', () => {
    const clock = new DatabaseClock();
    clock.observe(1_000_000, performance.now() - 10);
    clock.observe(1_000_000, performance.now() - 100);
    expect(clock.nowMs()).toBeCloseTo(1_000_005);
    jest.advanceTimersByTime(600_000);
    clock.observe(1_600_000, performance.now() - 100);
    expect(clock.nowMs()).toBeCloseTo(1_600_050);
  });

  it('takes any reading that shows it to be wrong', () => {
    const clock = new DatabaseClock();
    clock.observe(1_000_000, performance.now());
    clock.observe(2_000_000, performance.now() - 3_000);
    expect(clock.nowMs()).toBeCloseTo(2_001_500);
  });
});

describe('sleep', () => {
  it('ends at once when it is aborted, before or meanwhile', async () => {
    await sleep(A_DAY_MS, AbortSignal.abort());
    await sleep(A_DAY_MS, AbortSignal.timeout(5));
  });
});

describe('within', () => {
  it('gives the value, or undefined when it takes too long', async () => {
    expect(await within(Promise.resolve(1), A_DAY_MS)).toBe(1);
    expect(await within(new Promise(() => undefined), 5)).toBeUndefined();
    await expect(within(Promise.reject(new Error('no')), A_DAY_MS)).rejects.toThrow('no');
  });
});

describe('startTimeout', () => {
  it('gives up when the time is over, unless the wait has ended', async () => {
    const startedAtMs = performance.now();
    startTimeout(5, () => {
      throw new Error('it was ended');
    })();
    await new Promise<void>((resolve) => startTimeout(50, resolve));
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(45);
  });

  it('takes a standstill for a tenth of the time at most', async () => {
    let hasGivenUp = false;
    const cancelTimeout = startTimeout(2_000, () => (hasGivenUp = true));
    for (let standstills = 0; standstills < 3; standstills += 1) {
      standStill(2_100);
      await sleep(1);
    }
    expect(hasGivenUp).toBe(false);
    cancelTimeout();
  });
});
