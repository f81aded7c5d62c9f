import { describe, expect, it } from '@jest/globals';
import type { ClaimedEmail } from '@posthorn/database';
import { decideAfterAttempt, type LaneId, type Transmission } from '@posthorn/domain';
import { claimedEmail } from './claimed-email.fixture.ts';
import { outcomeOf, outcomeWithheld, outcomeWithoutMessage } from './outcome-of.ts';

const ok: Transmission = { kind: 'accepted', reply: { code: 250, text: 'ok' } };
const greylisted: Transmission = { kind: 'refused', stage: 'rcpt', reply: { code: 451, text: 'later' } };
const unknownUser: Transmission = { kind: 'refused', stage: 'rcpt', reply: { code: 550, text: 'no' } };
const broken: Transmission = { kind: 'broken', stage: 'content', error: 'it was reset' };
const lost: Transmission = { kind: 'unknown', error: 'the connection was closed' };

describe('what is recorded of an attempt', () => {
  function record(of: Transmission, attempts = 0, change: Partial<ClaimedEmail> = {}) {
    const transmission = { ...of, relay: 'smtp.example.net:587' };
    const verdict = decideAfterAttempt(transmission, attempts);
    if (verdict.kind === 'relay_unavailable') throw new Error('not about the email');
    return outcomeOf(claimedEmail({ attempts, ...change }), Buffer.from('message'), transmission, verdict);
  }

  it.each([
    [
      '250',
      ok,
      0,
      {
        kind: 'SENT',
        status: 'SENT',
        retryAfterMs: null,
        duplicatePossible: false,
        detail: { reply: { code: 250, text: 'ok' } },
      },
    ],
    ['451', greylisted, 0, { kind: 'DELAYED', status: null, retryAfterMs: 60_000, duplicatePossible: false }],
    ['550', unknownUser, 0, { kind: 'BOUNCED', status: 'BOUNCED', retryAfterMs: null }],
    [
      'a broken connection',
      broken,
      0,
      { kind: 'DELAYED', duplicatePossible: false, detail: { stage: 'content', error: 'it was reset' } },
    ],
    [
      'no reply',
      lost,
      0,
      {
        kind: 'REPLY_LOST',
        status: null,
        retryAfterMs: 60_000,
        duplicatePossible: true,
        detail: { error: 'the connection was closed' },
      },
    ],
    [
      '451 for the last time',
      greylisted,
      15,
      { kind: 'FAILED', status: 'FAILED', retryAfterMs: null, duplicatePossible: false },
    ],
    ['no reply for the last time', lost, 15, { kind: 'FAILED', status: 'FAILED', duplicatePossible: true }],
  ])('follows from %s', (_what, transmission, attempts, expected) => {
    expect(record(transmission, attempts)).toMatchObject({ claims: 3, ...expected });
  });

  it.each([
    ['now', 'retry'],
    ['retry', 'retry'],
    ['bulk', 'bulk'],
  ])('lets an email of the lane `%s` wait for its retry in the lane `%s`', (claimedIn, waitsIn) => {
    const laneId = `wrk_01k9zq7v3nf4b8gq2m5c6d7e8f.${claimedIn}` as LaneId;
    expect(record(greylisted, 0, { laneId }).laneId).toBe(`wrk_01k9zq7v3nf4b8gq2m5c6d7e8f.${waitsIn}`);
  });

  it('contains the number of the attempt, the relay with its reply, and the hash of the bytes', () => {
    expect(record(greylisted, 2).detail).toEqual({
      relay: 'smtp.example.net:587',
      stage: 'rcpt',
      reply: { code: 451, text: 'later' },
      class: 'soft_bounce',
      attempt: 3,
      retryAfterSeconds: 900,
      messageSha256: 'ab530a13e45914982b79f9b7e3fba994cfd1f3fb22f71cea1afbf02b460c6d1d',
      release: expect.any(String),
    });
  });

  it('S19: suppresses a recipient that does not exist, and no other', () => {
    expect(record(unknownUser).suppression).toBe('HARD_BOUNCE');
    expect(record(greylisted).suppression).toBeNull();
    const full = record({ ...unknownUser, reply: { code: 552, text: 'mailbox full' } });
    expect(full).toMatchObject({ status: 'BOUNCED', suppression: null });
    expect(outcomeWithheld(claimedEmail(), 'complaint')).toMatchObject({
      kind: 'SUPPRESSED',
      status: 'SUPPRESSED',
      retryAfterMs: null,
      duplicatePossible: false,
      detail: { reason: 'complaint' },
    });
  });

  it('of an email without a message is a retry, or the end if it can never have one', () => {
    expect(
      outcomeWithoutMessage(claimedEmail(), {
        reason: 'rendering_deadline',
        error: 'too slow',
        isLasting: false,
      }),
    ).toMatchObject({
      kind: 'DELAYED',
      retryAfterMs: 60_000,
      duplicatePossible: false,
      detail: { reason: 'rendering_deadline', error: 'too slow', attempt: 1 },
    });
    expect(outcomeWithoutMessage(claimedEmail(), { reason: 'uncomposable', isLasting: true })).toMatchObject({
      kind: 'FAILED',
      status: 'FAILED',
    });
  });
});
