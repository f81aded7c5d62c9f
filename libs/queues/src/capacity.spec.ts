import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { type LaneId, nowLane } from '@posthorn/domain';
import { Capacity } from './capacity.ts';

const lane = (n: number): LaneId => nowLane(newId('wrk', n));
const [FIRST, SECOND, THIRD, FOURTH] = [lane(1), lane(2), lane(3), lane(4)];

describe('The capacity of a workbench', () => {
  it('is never zero for a lane without rows on it, until it holds twice its limit of bytes', () => {
    const capacity = new Capacity({ maxRows: 100, maxBytes: 1_000 });
    capacity.take({ laneId: FIRST, bytes: 1_500 });
    expect([capacity.reserve(FIRST, 9), capacity.reserve(SECOND, 9)]).toEqual([0, 5]);
    capacity.take({ laneId: SECOND, bytes: 500 });
    capacity.release(5);
    expect(capacity.reserve(THIRD, 9)).toBe(0);
    capacity.leave({ laneId: SECOND, bytes: 500 });
    expect(capacity.reserve(FOURTH, 9)).toBe(5);
  });

  it('is zero, not negative, for a lane that holds more rows than fit: turns and rows that are known to exist are granted the same places', () => {
    const capacity = new Capacity({ maxRows: 2, maxBytes: 1_000 });
    expect([capacity.reserve(FIRST, 2), capacity.reserveForAny(2)]).toEqual([2, 2]);
    for (let rows = 0; rows < 4; rows += 1) capacity.take({ laneId: FIRST, bytes: 1 });
    capacity.release(2);
    capacity.releaseForAny(2);
    expect([capacity.reserve(FIRST, 2), capacity.reserveForAny(2)]).toEqual([0, 0]);
  });
});
