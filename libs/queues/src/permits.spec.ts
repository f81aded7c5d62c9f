import { expect, it } from '@jest/globals';
import type { LaneId } from '@posthorn/domain';
import { Permits } from './permits.ts';

const [BUSY, OTHER] = ['busy.bulk', 'other.now'] as LaneId[];
const HOUR_MS = 3_600_000;

function takeAll(permits: Permits, laneId: LaneId): number {
  let taken = 0;
  for (; permits.mayTake(laneId); taken += 1) permits.take(laneId);
  return taken;
}

it('A lane may take all permits as long as no other lane has had one, and then leaves a tenth to others for an hour', () => {
  let nowMs = 0;
  const permits = new Permits({ concurrency: 20 }, () => nowMs);
  expect(takeAll(permits, BUSY!)).toBe(20);
  permits.leave(BUSY!);
  permits.take(OTHER!);
  permits.leave(OTHER!);
  for (let n = 0; n < 19; n += 1) permits.leave(BUSY!);
  expect(takeAll(permits, BUSY!)).toBe(18);
  expect(permits.mayTake(OTHER!)).toBe(true);
  nowMs += HOUR_MS - 1;
  expect(takeAll(permits, BUSY!)).toBe(0);
  nowMs += 1;
  expect(takeAll(permits, BUSY!)).toBe(2);
  expect(permits.mayTake(OTHER!)).toBe(false);
});

it('Fewer than ten permits are not divided', () => {
  const permits = new Permits({ concurrency: 9 });
  permits.take(OTHER!);
  permits.leave(OTHER!);
  expect(takeAll(permits, BUSY!)).toBe(9);
});

it('A lane that hangs leaves half of the permits to others where that is asked for, whoever had some before', () => {
  expect(takeAll(new Permits({ concurrency: 20, maxTimesFree: 1 }), BUSY!)).toBe(10);
});
