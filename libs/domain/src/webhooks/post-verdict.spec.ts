import { describe, expect, it } from '@jest/globals';
import type { PostOutcome } from './post-outcome.ts';
import { decideAfterPost, POST_AGAIN_AFTER_SECONDS, type PostVerdict, restAfter } from './post-verdict.ts';

const NOW = new Date('2026-03-04T05:06:07Z');
const MIDDLE = 0.5;
const DAY = 86_400;
const ATTEMPTS = 10;

const after = (outcome: PostOutcome, attempts = 0, random = MIDDLE): PostVerdict =>
  decideAfterPost(outcome, { attempts, random, now: NOW });
const answered = (status: number, retryAfter?: string): PostOutcome => ({
  kind: 'answered',
  status,
  ...(retryAfter === undefined ? {} : { retryAfter }),
});
const failed = (errorClass: 'dns' | 'timeout'): PostOutcome => ({ kind: 'failed', errorClass, reason: 'no' });
/** Of a verdict that has one. */
const delay = (verdict: PostVerdict): number => ('afterSeconds' in verdict ? verdict.afterSeconds : NaN);

describe('the rest of a receiver that gets too many requests', () => {
  it.each([
    [429, undefined, 1],
    [429, 'soon', 1],
    [429, '0', 1],
    [429, '7', 7],
    [429, '86400', 60],
    [429, 'Wed, 04 Mar 2026 05:06:17 GMT', 10],
    [503, '7', 7],
    [503, undefined, undefined],
    [503, 'soon', undefined],
    [500, '7', undefined],
    [200, '7', undefined],
  ])('W8: after a %i with the Retry-After %s takes %s s', (status, retryAfter, seconds) => {
    expect(restAfter(answered(status, retryAfter), NOW)).toBe(seconds);
  });

  it('is not needed by one that does not answer', () => {
    expect(restAfter(failed('timeout'), NOW)).toBeUndefined();
  });
});

describe('the retries of a delivery', () => {
  it('W8: come after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, and take 75 hours', () => {
    expect(POST_AGAIN_AFTER_SECONDS).toEqual([5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400]);
    const hours = POST_AGAIN_AFTER_SECONDS.reduce((sum, seconds) => sum + seconds, 0) / 3600;
    expect(Math.floor(hours)).toBe(75);
  });

  it('W8: have a jitter of a fifth in both directions', () => {
    expect(delay(after(answered(500), 2, 0))).toBeCloseTo(1440);
    expect(delay(after(answered(500), 2))).toBeCloseTo(1800);
    expect(delay(after(answered(500), 2, 1))).toBeCloseTo(2160);
  });

  it('W8: are exhausted with the tenth attempt', () => {
    for (let attempts = 0; attempts < ATTEMPTS - 1; attempts += 1)
      expect(after(failed('timeout'), attempts)).toMatchObject({ kind: 'retry', errorClass: 'timeout' });
    expect(after(failed('timeout'), ATTEMPTS - 1)).toEqual({ kind: 'exhausted', errorClass: 'timeout' });
    expect(after(answered(503, '60'), ATTEMPTS - 1)).toEqual({ kind: 'exhausted', errorClass: 'http' });
    expect(after(answered(500), 1_000)).toEqual({ kind: 'exhausted', errorClass: 'http' });
  });
});

describe('the verdict on an answer', () => {
  it.each([200, 201, 202, 204, 206, 226, 299])('W7: %i is success', (status) => {
    expect(after(answered(status), 9)).toEqual({ kind: 'succeeded' });
  });

  it.each([100, 101, 199, 300, 301, 302, 304, 307, 308, 400, 401, 404, 408, 413, 429, 500, 503, 600, 999])(
    'W7: %i is a failure, and is retried',
    (status) => {
      expect(after(answered(status))).toMatchObject({ kind: 'retry', errorClass: 'http' });
    },
  );

  it('W8: 410 disables the webhook at any attempt', () => {
    expect(after(answered(410))).toEqual({ kind: 'gone' });
    expect(after(answered(410), 9)).toEqual({ kind: 'gone' });
  });
});

describe('Retry-After', () => {
  it.each([429, 503])('W8: is honoured when %i requests a longer delay', (status) => {
    expect(delay(after(answered(status, '3600')))).toBe(3600);
    expect(delay(after(answered(status, 'Wed, 04 Mar 2026 06:06:07 GMT')))).toBe(3600);
  });

  it('W8: is not shortened by the jitter', () => {
    expect(delay(after(answered(429, '3600'), 0, 0))).toBe(3600);
    expect(delay(after(answered(503, '86400'), 8, 0))).toBe(DAY);
  });

  it('W8: does not shorten a delay', () => {
    expect(delay(after(answered(503, '1'), 4))).toBe(18_000);
    expect(delay(after(answered(503, 'Thu, 01 Jan 1970 00:00:00 GMT'), 4))).toBe(18_000);
  });

  it.each(['86401', '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'W8: puts off for no more than a day: %s',
    (value) => {
      expect(delay(after(answered(429, value)))).toBe(DAY);
    },
  );

  it('W8: does not shorten the last delay, which the jitter makes longer than a day', () => {
    expect(delay(after(answered(429, '9999999'), 8, 1))).toBeCloseTo(1.2 * DAY);
  });

  it.each([200, 500, 301, 404])('W8: is ignored with %i', (status) => {
    const [plain, asking] = [after(answered(status)), after(answered(status, '3600'))];
    expect(asking).toEqual(plain);
  });

  it('W8: is ignored when it is malformed', () => {
    for (const value of ['', 'soon', '-1', '1e5', '60, 60'])
      expect(after(answered(503, value))).toEqual(after(answered(503)));
  });
});

describe('a local fault', () => {
  it('W8: does not count as an attempt, however often it occurs', () => {
    const ours: PostOutcome = { kind: 'ours', reason: 'no file descriptors' };
    expect(after(ours)).toEqual({ kind: 'postponed', afterSeconds: 30 });
    expect(after(ours, 9)).toEqual({ kind: 'postponed', afterSeconds: 30 });
  });
});
