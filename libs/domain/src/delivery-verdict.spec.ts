import { describe, expect, it } from '@jest/globals';
import type { SmtpStage, Transmission, Verdict } from './delivery.ts';
import {
  decideAfterAttempt,
  isTooFast,
  mayTryAnotherRelay,
  RETRY_AFTER_SECONDS,
} from './delivery-verdict.ts';

const refused = (
  stage: SmtpStage,
  code: number,
  text = 'no',
  enhancedCode?: string,
): Extract<Transmission, { kind: 'refused' }> => ({
  kind: 'refused',
  stage,
  reply: { code, text, ...(enhancedCode === undefined ? {} : { enhancedCode }) },
});
const broken = (stage: SmtpStage): Transmission => ({ kind: 'broken', stage, error: 'gone' });

const SETUP = ['connect', 'greeting', 'ehlo', 'starttls', 'auth'] as const;
const AFTER_A_MINUTE: Verdict = { kind: 'retry', afterSeconds: 60, duplicatePossible: false };

describe('the retry table', () => {
  it('has delays from a minute to eight hours', () => {
    const minutes = RETRY_AFTER_SECONDS.map((seconds) => seconds / 60);
    expect(minutes.slice(0, 9)).toEqual([1, 5, 15, 30, 60, 120, 240, 480, 480]);
    expect(new Set(minutes.slice(8))).toEqual(new Set([480]));
  });

  it('takes at most three days', () => {
    const hours = RETRY_AFTER_SECONDS.reduce((sum, seconds) => sum + seconds, 0) / 3600;
    expect(hours).toBeLessThanOrEqual(72);
    expect(hours + 8).toBeGreaterThan(72);
  });
});

describe('the verdict after an attempt', () => {
  it('is that an accepted email was sent', () => {
    expect(decideAfterAttempt({ kind: 'accepted', reply: { code: 250, text: 'queued' } }, 7)).toEqual({
      kind: 'sent',
    });
  });

  it.each(SETUP)('blames the relay for whatever it refuses at %s', (stage) => {
    for (const code of [421, 450, 451, 452, 454, 530, 535, 550, 552, 554]) {
      expect(decideAfterAttempt(refused(stage, code), 3)).toEqual({ kind: 'relay_unavailable' });
    }
    expect(decideAfterAttempt(broken(stage), 3)).toEqual({ kind: 'relay_unavailable' });
  });

  it.each(['mail', 'rcpt', 'data', 'content'] as const)('retries a connection that broke at %s', (stage) => {
    expect(decideAfterAttempt(broken(stage), 0)).toEqual(AFTER_A_MINUTE);
  });

  it('bounces a recipient who is refused for good', () => {
    expect(decideAfterAttempt(refused('rcpt', 550), 0)).toEqual({ kind: 'bounced', suppresses: true });
  });

  it.each(['data', 'content'] as const)('fails a message that is refused for good at %s', (stage) => {
    expect(decideAfterAttempt(refused(stage, 554), 0)).toEqual({ kind: 'failed' });
  });

  it.each(['rcpt', 'data', 'content'] as const)('retries a temporary refusal at %s', (stage) => {
    expect(decideAfterAttempt(refused(stage, 451), 0)).toEqual(AFTER_A_MINUTE);
  });

  it.each([
    ['rcpt', AFTER_A_MINUTE],
    ['content', AFTER_A_MINUTE],
    ['mail', { kind: 'relay_unavailable' }],
    ['data', { kind: 'relay_unavailable' }],
  ] as const)('takes a 421 at %s for what it is there', (stage, verdict) => {
    expect(decideAfterAttempt(refused(stage, 421), 0)).toEqual(verdict);
  });

  it.each([
    ['mailbox_full', 452, 'over quota', 30],
    ['blocked', 451, 'listed at zen.spamhaus.org', 15],
    ['rate_limited', 450, 'rate limit', 5],
    ['soft_bounce', 450, 'greylisted', 1],
  ] as const)('tries %s again no sooner than its class says', (_class, code, text, minutes) => {
    const retryAt = (attempts: number): Verdict => decideAfterAttempt(refused('rcpt', code, text), attempts);
    expect(retryAt(0)).toMatchObject({ kind: 'retry', afterSeconds: minutes * 60 });
    expect(retryAt(6)).toMatchObject({ kind: 'retry', afterSeconds: 4 * 3600 });
  });

  it.each([
    [
      'content',
      554,
      'delivery error: dd This user doesn’t have a yahoo.com account',
      { kind: 'bounced', suppresses: true },
    ],
    ['rcpt', 552, 'mailbox full', { kind: 'bounced', suppresses: false }],
    ['rcpt', 554, 'blocked using zen.spamhaus.org', { kind: 'failed' }],
    ['rcpt', 554, 'Relay access denied', { kind: 'failed' }],
    ['rcpt', 530, 'Authentication required', { kind: 'relay_unavailable' }],
    [
      'content',
      554,
      'mailbox full; STOREDRV.Submission.Exception:QuotaExceededException',
      { kind: 'relay_unavailable' },
    ],
  ] as const)('goes by what is said and not by the stage alone: %s %s %s', (stage, code, text, verdict) => {
    expect(decideAfterAttempt(refused(stage, code, text), 0)).toEqual(verdict);
  });

  it.each([
    ['rcpt', 550, '5.4.5', 'Daily SMTP relay sending quota exceeded'],
    ['content', 550, '5.4.5', 'Daily user sending limit exceeded'],
    [
      'content',
      554,
      '5.1.90',
      'Your message can’t be sent because you’ve reached your daily limit for message recipients',
    ],
  ] as const)(
    'tries again what is refused for good at %s by a limit that ends: %s %s %s',
    (stage, code, enhanced, text) => {
      const verdict = (attempts: number): Verdict =>
        decideAfterAttempt(refused(stage, code, text, enhanced), attempts);
      expect(verdict(0)).toEqual({ kind: 'retry', afterSeconds: 300, duplicatePossible: false });
      expect(verdict(RETRY_AFTER_SECONDS.length)).toEqual({ kind: 'failed' });
    },
  );

  it('follows the table and then gives up', () => {
    RETRY_AFTER_SECONDS.forEach((afterSeconds, attempts) => {
      expect(decideAfterAttempt(refused('rcpt', 451), attempts)).toMatchObject({
        kind: 'retry',
        afterSeconds,
      });
    });
    const end = RETRY_AFTER_SECONDS.length;
    expect(decideAfterAttempt(refused('rcpt', 451), end)).toEqual({ kind: 'failed' });
    expect(decideAfterAttempt(broken('content'), end)).toEqual({ kind: 'failed' });
    expect(decideAfterAttempt({ kind: 'unknown', error: 'gone' }, end)).toEqual({ kind: 'failed' });
  });

  it('says that a duplicate is possible when the relay may have the email', () => {
    expect(decideAfterAttempt({ kind: 'unknown', error: 'gone' }, 1)).toEqual({
      kind: 'retry',
      afterSeconds: 300,
      duplicatePossible: true,
    });
  });

  it.each([0, 99, 250, 354, 600, 999, Number.NaN])(
    'takes the code %p of a refusal for a broken connection',
    (code) => {
      expect(decideAfterAttempt(refused('rcpt', code), 0)).toEqual(AFTER_A_MINUTE);
      expect(decideAfterAttempt(refused('ehlo', code), 0)).toEqual({ kind: 'relay_unavailable' });
    },
  );
});

describe('a refusal with the first or last code of its class', () => {
  it.each([400, 499])('is temporary with %i', (code) => {
    expect(decideAfterAttempt(refused('rcpt', code, 'over quota'), 0)).toMatchObject({
      kind: 'retry',
      afterSeconds: 1_800,
    });
  });

  it.each([500, 599])('is permanent with %i', (code) => {
    expect(decideAfterAttempt(refused('content', code), 0)).toEqual({ kind: 'failed' });
  });
});

describe('a refusal at MAIL', () => {
  it.each([
    [553, '5.1.7', 'bad address syntax'],
    [550, '5.1.8', 'domain not found'],
    [552, '5.2.3', 'no'],
    [552, '5.3.4', 'Message size exceeds fixed limit'],
    [554, '5.3.4', 'no'],
    [553, '5.7.1', '<a@example.com>: Sender address rejected: not owned by user joe'],
    [554, '5.7.1', '<a@example.com>: Sender address rejected: Access denied'],
    [550, '5.7.60', 'Client does not have permissions to send as this sender'],
    [552, undefined, 'message size exceeds fixed maximum message size'],
    [550, undefined, 'Invalid sender'],
    [553, undefined, 'Bad return-path'],
  ])('fails the email: %s %s %s', (code, enhancedCode, text) => {
    expect(decideAfterAttempt(refused('mail', code, text, enhancedCode), 0)).toEqual({ kind: 'failed' });
  });

  it('retries an email whose sender domain cannot be looked up, and does not block others', () => {
    const transmission = refused('mail', 451, 'Sender domain not found', '4.1.8');
    expect(decideAfterAttempt(transmission, 0)).toEqual({
      kind: 'retry',
      afterSeconds: 60,
      duplicatePossible: false,
    });
  });

  it.each([
    [550, '5.7.1', 'Client host rejected'],
    [554, '5.7.1', 'Relay access denied'],
    [554, undefined, 'Sender rejected'],
    [550, '5.7.1', 'Sender IP is on a block list'],
    [553, '5.7.1', '<a@example.com>: Sender address rejected: not logged in'],
    [530, '5.7.0', 'Authentication required'],
    [530, '5.7.0', 'Must issue a STARTTLS command first'],
    [552, undefined, 'mailbox full'],
    [503, '5.5.1', 'bad sequence of commands'],
    [550, undefined, 'no'],
    [452, '4.3.1', 'insufficient system storage'],
  ])('is otherwise the relay’s: %s %s %s', (code, enhancedCode, text) => {
    expect(decideAfterAttempt(refused('mail', code, text, enhancedCode), 0)).toEqual({
      kind: 'relay_unavailable',
    });
  });
});

describe('a refusal that could be about us, while the relay serves others', () => {
  const whileServing = (...of: Parameters<typeof refused>): Transmission => ({
    ...refused(...of),
    servesOthers: true,
  });

  it.each([
    ['mail', 550, 'Invalid credentials for relay'],
    ['rcpt', 530, 'Authentication required'],
    ['content', 550, 'authentication required'],
  ] as const)('delays the email, until its retries are used up: %s %i %s', (stage, code, text) => {
    const transmission = whileServing(stage, code, text);
    expect(decideAfterAttempt(transmission, 0)).toEqual(AFTER_A_MINUTE);
    expect(decideAfterAttempt(transmission, RETRY_AFTER_SECONDS.length)).toEqual({ kind: 'failed' });
    expect(mayTryAnotherRelay(transmission)).toBe(true);
  });

  it('leaves every other refusal as it is', () => {
    for (const [stage, code] of [
      ['rcpt', 550],
      ['rcpt', 451],
      ['content', 554],
    ] as const) {
      expect(decideAfterAttempt(whileServing(stage, code), 0)).toEqual(
        decideAfterAttempt(refused(stage, code), 0),
      );
    }
  });
});

describe('a refusal without asking, while other relays are unavailable', () => {
  it('delays the email, until its retries are used up', () => {
    const refusal: Transmission = { ...refused('rcpt', 550), unasked: true };
    expect(decideAfterAttempt(refusal, 0)).not.toEqual(AFTER_A_MINUTE);
    const transmission: Transmission = { ...refusal, othersUnavailable: true };
    expect(decideAfterAttempt(transmission, 0)).toEqual(AFTER_A_MINUTE);
    expect(decideAfterAttempt(transmission, RETRY_AFTER_SECONDS.length)).toEqual({ kind: 'failed' });
  });
});

describe('emails come too fast', () => {
  const throttled = 'Throttling failure: Maximum sending rate exceeded';
  it('when a server says so at MAIL or later', () => {
    expect(isTooFast(refused('mail', 454, throttled))).toBe(true);
    expect(
      isTooFast(
        refused('mail', 421, 'Message submission rate for this client has exceeded the configured limit'),
      ),
    ).toBe(true);
    expect(isTooFast(refused('content', 454, throttled, '4.7.0'))).toBe(true);
    expect(isTooFast(refused('rcpt', 450, 'rate limit'))).toBe(true);
    expect(isTooFast(refused('content', 550, 'Daily user sending limit exceeded', '5.4.5'))).toBe(true);
  });

  it.each<Transmission>([
    refused('greeting', 421, 'too many connections'),
    refused('mail', 452, 'Insufficient system storage'),
    refused('rcpt', 451, 'greylisted'),
    broken('content'),
    { kind: 'unknown', error: throttled },
    { kind: 'accepted', reply: { code: 250, text: throttled } },
  ])('but not when it says something else: %j', (transmission) => {
    expect(isTooFast(transmission)).toBe(false);
  });
});

describe('another relay may be tried', () => {
  it.each([
    refused('greeting', 554),
    refused('auth', 535),
    refused('mail', 550, 'Client host rejected'),
    refused('data', 421),
    refused('content', 421),
    { ...refused('rcpt', 550), unasked: true } as const,
    broken('connect'),
    broken('rcpt'),
    broken('content'),
  ])('when it is proven that this one accepted nothing: %j', (transmission) => {
    expect(mayTryAnotherRelay(transmission)).toBe(true);
  });

  it.each<Transmission>([
    { kind: 'accepted', reply: { code: 250, text: 'ok' } },
    { kind: 'unknown', error: 'the connection was closed' },
    refused('rcpt', 550),
    refused('rcpt', 451),
    refused('content', 554),
    refused('mail', 552, 'message size exceeds the limit'),
  ])('but never when it may have it, or has answered about the email: %j', (transmission) => {
    expect(mayTryAnotherRelay(transmission)).toBe(false);
  });
});
