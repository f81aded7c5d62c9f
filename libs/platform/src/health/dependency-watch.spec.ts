import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DependencyWatch } from './dependency-watch.ts';

describe('DependencyWatch', () => {
  const said: string[] = [];
  beforeEach(() => {
    said.length = 0;
    const say = (message: string): void => void said.push(message);
    Logger.overrideLogger({ log: say, warn: say, error: say });
  });
  afterEach(() => {
    Logger.overrideLogger(['error']);
  });

  it('shows whether the dependency is available, but not the error if it is not', async () => {
    const fault = new Error('connect ECONNREFUSED db.internal:5432');
    const watch = new DependencyWatch('database', () => Promise.reject(fault));
    await watch.checkOnce();
    expect(watch.state).toEqual({ ok: false, checkedAt: expect.any(String), durationMs: expect.any(Number) });
  });

  it('counts a dependency that does not answer within a second as unavailable', async () => {
    const watch = new DependencyWatch('redis', () => new Promise(() => undefined));
    const begun = performance.now();
    await watch.checkOnce();
    expect(watch.state?.ok).toBe(false);
    expect(watch.state?.durationMs).toBeGreaterThanOrEqual(999);
    expect(watch.state?.durationMs).toBeLessThanOrEqual(Math.ceil(performance.now() - begun));
  });

  it('logs once that a dependency is unavailable, and once that it is available again', async () => {
    let away = false;
    const check = (): Promise<unknown> => (away ? Promise.reject(new Error('x')) : Promise.resolve());
    const watch = new DependencyWatch('redis', check);
    const saidAfter: number[] = [];
    for (away of [false, true, true, false, false]) {
      await watch.checkOnce();
      saidAfter.push(said.length);
    }
    expect(said).toEqual(['redis does not answer', 'redis answers again']);
    expect(saidAfter).toEqual([0, 1, 1, 2, 2]);
  });

  it('counts a check that throws at once as one that rejects', async () => {
    const check = (): Promise<never> => {
      throw new Error('x');
    };
    const watch = new DependencyWatch('redis', check);
    await watch.checkOnce();
    expect(watch.state?.ok).toBe(false);
  });
});
