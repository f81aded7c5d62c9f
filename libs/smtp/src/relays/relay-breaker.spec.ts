import { describe, expect, it } from '@jest/globals';
import { RelayBreaker } from './relay-breaker.ts';

interface BreakerWithClock {
  readonly breaker: RelayBreaker;
  readonly pass: (ms: number) => void;
  /** A transmission fails that has taken this long. */
  readonly fail: (afterMs?: number) => boolean;
}

function breakerWithClock(): BreakerWithClock {
  let nowMs = 1_000_000;
  const breaker = new RelayBreaker(() => nowMs);
  return { breaker, pass: (ms) => (nowMs += ms), fail: (afterMs = 0) => breaker.failed(nowMs - afterMs) };
}

describe('the relay breaker', () => {
  it('allows everything while closed', () => {
    const { breaker } = breakerWithClock();
    expect([breaker.tryBegin(), breaker.tryBegin()]).toEqual([true, true]);
    breaker.abandoned(breaker.nowMs());
    expect(breaker.state).toBe('closed');
    expect(breaker.retryAfterMs).toBe(0);
  });

  it('opens on a failure even if another transmission has succeeded meanwhile', () => {
    const { breaker, pass, fail } = breakerWithClock();
    pass(10);
    breaker.succeeded();
    expect(fail(10)).toBe(true);
  });

  it('blocks for a second after a failure, and then allows one probe', () => {
    const { breaker, pass, fail } = breakerWithClock();
    fail();
    expect(breaker.state).toBe('open');
    expect(breaker.retryAfterMs).toBe(1_000);
    pass(999);
    expect(breaker.tryBegin()).toBe(false);
    expect(breaker.retryAfterMs).toBe(1);
    pass(1);
    expect([breaker.tryBegin(), breaker.tryBegin(), breaker.tryBegin()]).toEqual([true, false, false]);
    expect(breaker.state).toBe('half_open');
  });

  it('doubles the back-off with each failed probe, up to half a minute', () => {
    const { breaker, pass, fail } = breakerWithClock();
    const seen: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      fail();
      seen.push(breaker.retryAfterMs);
      pass(breaker.retryAfterMs);
      expect(breaker.tryBegin()).toBe(true);
    }
    expect(seen).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('counts failures of transmissions that were in flight when it opened as one', () => {
    const { breaker, pass, fail } = breakerWithClock();
    for (let email = 0; email < 20; email += 1) fail();
    expect(breaker.retryAfterMs).toBe(1_000);
    pass(500);
    fail();
    expect(breaker.retryAfterMs).toBe(500);
  });

  it('closes when the probe succeeds, and begins with a second again', () => {
    const { breaker, pass, fail } = breakerWithClock();
    fail();
    pass(1_000);
    breaker.tryBegin();
    fail();
    pass(2_000);
    expect(breaker.tryBegin()).toBe(true);
    breaker.succeeded();
    expect([breaker.state, breaker.tryBegin(), breaker.tryBegin()]).toEqual(['closed', true, true]);
    expect(breaker.retryAfterMs).toBe(0);
    fail();
    expect(breaker.retryAfterMs).toBe(1_000);
  });

  it('allows another probe if the first gives no result', () => {
    const { breaker, pass, fail } = breakerWithClock();
    fail();
    pass(1_000);
    expect(breaker.tryBegin()).toBe(true);
    expect(breaker.retryAfterMs).toBe(1_000);
    pass(59_999);
    expect(breaker.tryBegin()).toBe(false);
    expect(breaker.retryAfterMs).toBe(1);
    pass(1);
    expect([breaker.tryBegin(), breaker.tryBegin()]).toEqual([true, false]);
  });

  it('allows another probe at once if the first is abandoned, but not if an earlier transmission is', () => {
    const { breaker, pass, fail } = breakerWithClock();
    const begunAtMs = breaker.nowMs();
    pass(10);
    fail();
    pass(1_000);
    expect(breaker.tryBegin()).toBe(true);
    breaker.abandoned(begunAtMs);
    expect(breaker.tryBegin()).toBe(false);
    breaker.abandoned(breaker.nowMs());
    expect([breaker.state, breaker.retryAfterMs]).toEqual(['open', 0]);
    expect([breaker.tryBegin(), breaker.tryBegin()]).toEqual([true, false]);
    fail();
    expect(breaker.retryAfterMs).toBe(2_000);
  });

  it('closes when a transmission in flight succeeds while it is open', () => {
    const { breaker, fail } = breakerWithClock();
    fail();
    breaker.succeeded();
    expect(breaker.tryBegin()).toBe(true);
  });

  it('ignores the failure of a connection that was being opened before it closed', () => {
    const { breaker, pass, fail } = breakerWithClock();
    expect(fail()).toBe(true);
    pass(1_000);
    breaker.tryBegin();
    pass(10);
    breaker.succeeded();
    pass(5_000);
    expect(fail(5_001)).toBe(false);
    expect(breaker.state).toBe('closed');
    expect(fail(4_999)).toBe(true);
    expect(breaker.retryAfterMs).toBe(1_000);
  });

  it('waits for the probe when a transmission fails that began before it opened', () => {
    const { breaker, pass, fail } = breakerWithClock();
    fail();
    pass(1_000);
    breaker.tryBegin();
    expect(fail(1_500)).toBe(false);
    expect(breaker.state).toBe('half_open');
    expect(fail()).toBe(true);
    expect(breaker.retryAfterMs).toBe(2_000);
  });

  it('shows that the relay serves for five seconds after an answer about an email, unless it has failed since', () => {
    const { breaker, pass, fail } = breakerWithClock();
    expect(breaker.isServing).toBe(false);
    breaker.succeeded();
    pass(4_999);
    expect(breaker.isServing).toBe(true);
    pass(1);
    expect(breaker.isServing).toBe(false);
    breaker.succeeded();
    fail();
    expect(breaker.isServing).toBe(false);
    pass(1_000);
    breaker.tryBegin();
    expect([breaker.state, breaker.isServing]).toEqual(['half_open', false]);
  });
});
