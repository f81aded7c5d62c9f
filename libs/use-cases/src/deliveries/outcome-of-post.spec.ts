import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { type PostErrorClass, webhookLane } from '@posthorn/domain';
import type { ClaimedDelivery, Receiver } from '@posthorn/database';
import type { PostResult } from '@posthorn/webhooks';
import { outcomeOfPost } from './outcome-of-post.ts';

const webhookId = newId('wh', 0);
const laneId = webhookLane(webhookId);

/** A delivery with earlier attempts, of which fewer count, because it was redelivered by hand. */
const delivery: ClaimedDelivery = {
  id: newId('dlv', 0),
  claims: 9,
  attempts: 2,
  attemptsMade: 7,
  bytes: 2,
  workspaceId: newId('wrk', 0),
  webhookId,
  laneId,
  payload: '{}',
  traceparent: null,
  laneHasMore: false,
  askedAtMs: 0,
  eventId: newId('evt', 0),
  event: 'CONTACT_CREATED',
  isTest: false,
};
const receiver = {
  asOf: '1',
  health: { failingSince: null, warnedAt: null, isSlow: false },
} as Receiver;

const answered = (status: number): PostResult => ({
  kind: 'answered',
  status,
  headers: {},
  body: '',
  durationMs: 5,
});
const record = (result: PostResult, attempts = delivery.attempts) =>
  outcomeOfPost({ ...delivery, attempts }, receiver, result, {
    now: new Date(0),
    random: 0.5,
    wasSlow: false,
  });

describe('The recorded outcome of a delivery', () => {
  it.each<[string, number, number, object, PostErrorClass | undefined, 'failed' | 'gone' | null]>([
    ['200, finished', 200, 2, { status: 'SUCCEEDED', retryAfterMs: null, steps: 0 }, undefined, null],
    ['500, the next step of the retries', 500, 2, { retryAfterMs: 1_800_000, steps: 3 }, 'http', 'failed'],
    [
      '500 to the last of them, exhausted',
      500,
      9,
      { status: 'EXHAUSTED', retryAfterMs: null },
      'http',
      'failed',
    ],
    ['410, held with all of its retries there again', 410, 2, { retryAfterMs: 0, steps: 0 }, 'http', 'gone'],
  ])('follows from %s', (_what, status, attempts, expected, errorClass, effect) => {
    const outcome = record(answered(status), attempts);
    expect(outcome).toMatchObject({ id: delivery.id, claims: 9, laneId, status: null, ...expected });
    expect(outcome.attempt).toMatchObject({ number: 8, statusCode: status, durationMs: 5, errorClass });
    const { workspaceId } = delivery;
    expect(outcome.report).toEqual(effect && { effect, isSlow: false, workspaceId, webhookId, asOf: '1' });
  });

  it.each([
    ['connect', true],
    ['timeout', true],
    ['tls', false],
    ['dns', false],
  ] as const)('W8: reports a receiver as slow that was out of reach: %s, %p', (errorClass, isSlow) => {
    const outcome = record({ kind: 'failed', errorClass, reason: 'x'.repeat(2_000), durationMs: 5 });
    expect(outcome.attempt).toMatchObject({ errorClass, reason: 'x'.repeat(1_000) });
    expect(outcome.report).toMatchObject({ effect: 'failed', isSlow });
  });

  it.each<[PostResult, object | null]>([
    [answered(200), { kind: 'answering' }],
    [answered(500), { kind: 'answering' }],
    [{ kind: 'failed', errorClass: 'connect', reason: 'refused', durationMs: 5 }, { kind: 'silent' }],
    [answered(429), { kind: 'throttled', restMs: 1_000 }],
    [{ kind: 'ours', reason: 'no file is free', durationMs: 5 }, null],
  ])('of %j tells how responsive the receiver is: %j', (result, responsiveness) => {
    expect(record(result).responsiveness).toEqual(responsiveness);
  });

  it('after a fault of ours costs neither an attempt nor a step', () => {
    expect(record({ kind: 'ours', reason: 'no file is free', durationMs: 5 })).toMatchObject({
      status: null,
      retryAfterMs: 30_000,
      steps: 2,
      attempt: null,
      report: null,
      ownFault: { id: delivery.id, claims: 9, number: 8, durationMs: 5 },
    });
  });
});
