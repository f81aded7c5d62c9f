import { describe, expect, it } from '@jest/globals';
import { Heartbeat } from './heartbeat.ts';

function heartbeatWithClock(): { heart: Heartbeat; wait: (ms: number) => void } {
  let now = 0;
  const heart = new Heartbeat(() => now);
  return { heart, wait: (ms) => void (now += ms) };
}

describe('Heartbeat', () => {
  it('is healthy while its timer fires on time', () => {
    const { heart, wait } = heartbeatWithClock();
    for (const ms of [1_000, 1_200, 9_000]) {
      wait(ms);
      heart.beat();
      expect(heart.check().ok).toBe(true);
    }
  });

  it('is unhealthy when the timer has not fired for more than ten seconds', () => {
    const { heart, wait } = heartbeatWithClock();
    wait(10_001);
    expect(heart.check()).toEqual({ ok: false, detail: 'last turn 10001 ms ago' });
  });

  it('stays unhealthy for half a minute after the event loop was blocked, so that a probe that was delayed by it sees it', () => {
    const { heart, wait } = heartbeatWithClock();
    wait(11_000);
    heart.beat();
    wait(500);
    expect(heart.check()).toEqual({
      ok: false,
      detail: 'last turn 500 ms ago, after a standstill of 11000 ms',
    });
    for (let second = 0; second < 31; second++) {
      wait(1_000);
      heart.beat();
    }
    expect(heart.check().ok).toBe(true);
  });
});
