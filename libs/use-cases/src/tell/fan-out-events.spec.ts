import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { eventLane } from '@posthorn/domain';
import type { FannedOut, LaneDemand, Room } from '@posthorn/database';
import { FanOutEvents } from './fan-out-events.ts';

const EVENTS_PER_TURN = 40;
const WEBHOOKS = 5;
const LANE = eventLane(newId('wrk', Date.now()));

/** Turns of one lane that has more than any turn takes; what each asked for. */
function backlog(rowsFree: () => number): { turn: () => Promise<void>; asked: number[] } {
  const asked: number[] = [];
  const fanOut = ([demand]: readonly LaneDemand[]): Promise<FannedOut> => {
    const { laneId, maxRows: rows } = demand!;
    asked.push(rows);
    const lane = { queue: 'event', laneId, rows, hasMore: true, isSlow: false } as const;
    return Promise.resolve({ lanes: [lane], made: rows * WEBHOOKS, claimed: [] });
  };
  const takeUp = async (wanted: number, claim: (room: Room) => Promise<unknown>): Promise<void> => {
    await claim({ rows: Math.min(wanted, rowsFree()), bytes: 1, notOf: [] });
  };
  const events = new FanOutEvents({
    deliveries: { fanOut },
    poster: { takeUp, untilRoomFor: () => Promise.resolve() },
    rings: { event: { ringSlot: () => undefined }, webhook: { ring: () => undefined } },
    eventsPerTurn: EVENTS_PER_TURN,
    handoverMs: 10,
    leaseMs: 1_000,
  });
  return { turn: () => events.serve(LANE, '0'), asked };
}

describe('A turn of a lane of events', () => {
  it('takes all that a turn may, the first time, however little room there is', async () => {
    const { turn, asked } = backlog(() => 0);
    await turn();
    expect(asked).toEqual([EVENTS_PER_TURN]);
  });

  it('takes as many events of a backlog as there is room for their deliveries, so that none needs a turn of its own', async () => {
    const { turn, asked } = backlog(() => 23 * WEBHOOKS + 2);
    await turn();
    await turn();
    expect(asked).toEqual([EVENTS_PER_TURN, 23]);
  });

  it('takes a quarter at least, for others may have room, and no more than a turn may', async () => {
    const rooms = [0, 0, 1_000_000];
    const { turn, asked } = backlog(() => rooms.shift()!);
    for (let turns = 3; turns > 0; turns -= 1) await turn();
    expect(asked).toEqual([EVENTS_PER_TURN, EVENTS_PER_TURN / 4, EVENTS_PER_TURN]);
  });
});
