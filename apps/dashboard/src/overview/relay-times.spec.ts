import { describe, expect, it } from '@jest/globals';
import { relayTimes } from './relay-times.ts';

const SINCE = new Date('2026-01-02T03:00:00Z');
const counted = (label: string, count: number, minute = '2026-01-02T03:04:00Z') => ({
  what: 'transmission',
  label,
  count,
  minute: new Date(minute),
});

describe('How long a relay takes', () => {
  it('is within the limit of the bucket in which the half, and 95 %, of its emails are', () => {
    const rates = [
      counted('0.25 a:25', 40),
      counted('0.05 a:25', 30),
      counted('0.05 a:25', 25, '2026-01-02T03:05:00Z'),
      counted('10 a:25', 5),
    ];
    expect(relayTimes(rates, 'a:25', SINCE)).toEqual({ half: 0.05, most: 0.25 });
  });

  it('does not depend on other relays, other counts or earlier minutes', () => {
    const rates = [
      counted('0.1 a:25', 1),
      counted('60 b:25', 9),
      counted('60 a:25', 9, '2026-01-02T02:59:00Z'),
      { ...counted('60 a:25', 9), what: 'reply' },
    ];
    expect(relayTimes(rates, 'a:25', SINCE)).toEqual({ half: 0.1, most: 0.1 });
    expect(relayTimes(rates, 'c:25', SINCE)).toBeUndefined();
  });

  it('is infinite beyond the last bucket', () => {
    expect(relayTimes([counted('+Inf a:25', 1)], 'a:25', SINCE)?.half).toBe(Number.POSITIVE_INFINITY);
  });
});
