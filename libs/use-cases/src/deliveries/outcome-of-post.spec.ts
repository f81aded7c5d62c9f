import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { webhookLane } from '@posthorn/domain';
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
  it.each([
    ['200, finished', 200, 2, { status: 'SUCCEEDED', retryAfterMs: null, steps: 0 }],
    ['500, the next step of the retries', 500, 2, { status: null, retryAfterMs: 1_800_000, steps: 3 }],
    ['500 to the last of them, exhausted', 500, 9, { status: 'EXHAUSTED', retryAfterMs: null }],
    ['410, held with all of its retries there again', 410, 2, { status: null, retryAfterMs: 0, steps: 0 }],
  ])('follows from %s', (_what, status, attempts, expected) => {
    const outcome = record(answered(status), attempts);
    expect(outcome).toMatchObject({ id: delivery.id, claims: 9, laneId, ...expected });
    expect(outcome.attempt).toMatchObject({ number: 8, statusCode: status, durationMs: 5 });
  });

  it('after a fault of ours costs neither an attempt nor a step', () => {
    expect(record({ kind: 'ours', reason: 'no file is free', durationMs: 5 })).toMatchObject({
      status: null,
      steps: 2,
      attempt: null,
      report: null,
      ownFault: { id: delivery.id, claims: 9, number: 8, durationMs: 5 },
    });
  });
});
