import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DatabaseClock, startTimeout, sleep, suspensionProofNowMs, within } from './time.ts';

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

  it('continues from the last reading, whatever this machine’s wall clock says', () => {
    const clock = new DatabaseClock();
    const lastYear = Date.now() - 365 * 24 * 3_600_000;
    clock.observe(lastYear, performance.now());
    jest.advanceTimersByTime(20);
    expect(clock.nowMs() - lastYear).toBeCloseTo(20);
  });

  it('assumes that a reading was taken halfway between query and answer', () => {
    const clock = new DatabaseClock();
    clock.observe(1_000_000, performance.now() - 200);
    expect(clock.nowMs()).toBeCloseTo(1_000_100);
  });

  it('ignores a less precise reading until its own drift could be as large', () => {
    const clock = new DatabaseClock();
    clock.observe(1_000_000, performance.now() - 10);
    clock.observe(1_000_000, performance.now() - 100);
    expect(clock.nowMs()).toBeCloseTo(1_000_005);
    jest.advanceTimersByTime(600_000);
    clock.observe(1_600_000, performance.now() - 100);
    expect(clock.nowMs()).toBeCloseTo(1_600_050);
  });

  it('adopts any reading that contradicts it', () => {
    const clock = new DatabaseClock();
    clock.observe(1_000_000, performance.now());
    clock.observe(2_000_000, performance.now() - 3_000);
    expect(clock.nowMs()).toBeCloseTo(2_001_500);
  });
});

describe('suspensionProofNowMs', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** How far the clock goes while it is set. */
  function passed(monotonicMs: number, wallMs: number): number {
    const [before, monotonic, wall] = [suspensionProofNowMs(), performance.now(), Date.now()];
    jest.spyOn(performance, 'now').mockReturnValue(monotonic + monotonicMs);
    jest.spyOn(Date, 'now').mockReturnValue(wall + wallMs);
    return suspensionProofNowMs() - before;
  }

  it('counts the time in which the machine slept', () => {
    expect(passed(1_000, 61_000)).toBeCloseTo(61_000, -2);
  });

  it('does not follow a wall clock that is set back, and still counts what is slept after that', () => {
    expect(passed(1_000, -60_000)).toBeCloseTo(1_000, -2);
    jest.restoreAllMocks();
    expect(passed(1_000, 61_000)).toBeCloseTo(61_000, -2);
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

  it('counts a suspension for at most a tenth of the time', async () => {
    let hasGivenUp = false;
    const cancelTimeout = startTimeout(2_000, () => (hasGivenUp = true));
    for (let standstills = 0; standstills < 3; standstills += 1) {
      standStill(2_100);
      await sleep(1);
    }
    expect(hasGivenUp).toBe(false);
    cancelTimeout();
  });

  it('does not give up when the wait ends just as the time is over', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    try {
      const givenUp: string[] = [];
      const cancelTimeout = startTimeout(1_000, () => givenUp.push('ended'));
      startTimeout(1_000, () => givenUp.push('not ended'));
      jest.advanceTimersByTime(1_000);
      cancelTimeout();
      await new Promise(setImmediate);
      expect(givenUp).toEqual(['not ended']);
    } finally {
      jest.useRealTimers();
    }
  });
});
