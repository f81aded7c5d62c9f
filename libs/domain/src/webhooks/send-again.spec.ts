import { describe, expect, it } from '@jest/globals';
import { decideSendAgain, type DueState, type SendAgain } from './send-again.ts';
import type { DeliveryStatus } from './webhook.ts';

describe('W10: sending a delivery again', () => {
  it.each<[DeliveryStatus, DueState, SendAgain]>([
    ['PENDING', 'waiting', 'hastened'],
    ['PENDING', 'taken', 'under_way'],
    ['PENDING', 'ready', 'due_already'],
    ['PENDING', undefined, 'due_already'],
    ['SUCCEEDED', undefined, 'put_back'],
    ['EXHAUSTED', undefined, 'put_back'],
    ['EXPIRED', undefined, 'put_back'],
  ])('that is %s, with an outbox row that is %s: %s', (status, due, wanted) => {
    expect(decideSendAgain(status, due)).toBe(wanted);
  });
});
