import { beforeEach, describe, expect, it } from '@jest/globals';
import { type LaneId, webhookLane } from '@posthorn/domain';
import { newId } from '@posthorn/kernel';
import { SlowLanes } from './slow-lanes.ts';

const lane: LaneId = webhookLane(newId('wh', 0));
let nowMs: number;
let lanes: SlowLanes;

beforeEach(() => {
  nowMs = 1_000;
  lanes = new SlowLanes(() => nowMs);
});

describe('How many deliveries a slow receiver gets at a time', () => {
  it('is one until it answers, and then several', () => {
    expect(lanes.maxRowsOf(lane)).toBe(1);
    lanes.note(lane, { kind: 'silent' });
    expect(lanes.maxRowsOf(lane)).toBe(1);
    lanes.note(lane, { kind: 'answering' });
    expect(lanes.maxRowsOf(lane)).toBe(10);
  });

  it('is one again after no answer, and when it is found to be slow anew', () => {
    lanes.note(lane, { kind: 'answering' });
    lanes.note(lane, { kind: 'silent' });
    expect(lanes.maxRowsOf(lane)).toBe(1);
    lanes.note(lane, { kind: 'answering' });
    lanes.mark(lane);
    expect(lanes.maxRowsOf(lane)).toBe(1);
  });

  it('is none while it rests, and one for a minute after that', () => {
    lanes.note(lane, { kind: 'throttled', restMs: 5_000 });
    expect([lanes.maxRowsOf(lane), lanes.isThrottled(lane)]).toEqual([0, true]);
    nowMs += 5_000;
    lanes.note(lane, { kind: 'answering' });
    expect([lanes.maxRowsOf(lane), lanes.isThrottled(lane)]).toEqual([1, true]);
    nowMs += 59_999;
    expect([lanes.maxRowsOf(lane), lanes.isThrottled(lane)]).toEqual([1, true]);
    nowMs += 1;
    expect([lanes.maxRowsOf(lane), lanes.isThrottled(lane)]).toEqual([10, false]);
  });
});

it('A lane was marked since a moment only if it was marked after it', () => {
  expect(lanes.wasMarkedSince(lane, 0)).toBe(false);
  lanes.mark(lane);
  expect([lanes.wasMarkedSince(lane, 999), lanes.wasMarkedSince(lane, 1_000)]).toEqual([true, false]);
});
