import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { type LaneId, nowLane } from '@posthorn/domain';
import { Room } from './room.ts';

const lane = (n: number): LaneId => nowLane(newId('wrk', n));
const [FIRST, SECOND, THIRD, FOURTH] = [lane(1), lane(2), lane(3), lane(4)];

describe('The room on a workbench', () => {
  it('always has some for a lane with nothing in hand, until twice its bytes are in hand', () => {
    const room = new Room({ maxRows: 100, maxBytes: 1_000 });
    room.take({ laneId: FIRST, bytes: 1_500 });
    expect([room.reserve(FIRST, 9), room.reserve(SECOND, 9)]).toEqual([0, 5]);
    room.take({ laneId: SECOND, bytes: 500 });
    room.release(5);
    expect(room.reserve(THIRD, 9)).toBe(0);
    room.leave({ laneId: SECOND, bytes: 500 });
    expect(room.reserve(FOURTH, 9)).toBe(5);
  });
});
