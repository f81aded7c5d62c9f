import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { eventLane, type LaneId } from '@posthorn/domain';
import type { FannedOut, LaneDemand, ClaimCapacity } from '@posthorn/database';
import { FanOutEvents } from './fan-out-events.ts';

const EVENTS_PER_TURN = 40;
const WEBHOOKS = 5;
const newLane = (): LaneId => eventLane(newId('wrk', Date.now()));
const LANE = newLane();

interface Backlog {
  readonly turn: (laneId?: LaneId) => Promise<void>;
  readonly asked: number[];
  readonly rung: string[];
}

/** Lanes with more events than any turn takes, what their turns requested, and how often they were rung again. */
function backlog(rowsFree: () => number): Backlog {
  const asked: number[] = [];
  const rung: string[] = [];
  const fanOut = ([demand]: readonly LaneDemand[]): Promise<FannedOut> => {
    const { laneId, maxRows: events } = demand!;
    asked.push(events);
    const lane = { laneId, events, hasMore: true };
    return Promise.resolve({ lanes: [lane], ready: [], claimed: [], made: events * WEBHOOKS });
  };
  const claimAndPost = async (
    wanted: number,
    claim: (capacity: ClaimCapacity) => Promise<unknown>,
  ): Promise<void> => {
    await claim({ rows: Math.min(wanted, rowsFree()), bytes: 1, excludedLanes: [] });
  };
  const events = new FanOutEvents({
    deliveries: { fanOut },
    poster: { claimAndPost, waitForCapacityFor: () => Promise.resolve() },
    rings: { event: { ringSlot: (_lane, slot) => void rung.push(slot) }, webhook: { ring: () => undefined } },
    eventsPerTurn: EVENTS_PER_TURN,
    handoverMs: 10,
    leaseMs: 1_000,
  });
  return { turn: (laneId = LANE) => events.serve(laneId, '0'), asked, rung };
}

describe('A turn of a lane of events', () => {
  it('takes the maximum the first time, however little capacity there is, and at least a quarter later, since other processes may have capacity', async () => {
    const rooms = [0, 0, 1_000_000, 0];
    const { turn, asked } = backlog(() => rooms.shift()!);
    await turn();
    const quarter = EVENTS_PER_TURN / 4;
    expect(asked).toEqual([EVENTS_PER_TURN, quarter, EVENTS_PER_TURN, quarter]);
  });

  it('takes as many events of a backlog as there is capacity for their deliveries, so that these need no turns of their own', async () => {
    const { turn, asked } = backlog(() => 23 * WEBHOOKS + 2);
    await turn();
    expect(asked).toEqual([EVENTS_PER_TURN, 23, 23, 23]);
  });

  it('takes events of a backlog four times, and rings for the rest, which still counts as a backlog', async () => {
    const { turn, asked, rung } = backlog(() => 23 * WEBHOOKS);
    await turn();
    await turn();
    expect(asked).toEqual([EVENTS_PER_TURN, ...Array<number>(7).fill(23)]);
    expect(rung).toEqual(['0', '0']);
  });

  it('is no longer remembered as having a backlog after many other lanes, whose next turns may run in other processes', async () => {
    const { turn, asked } = backlog(() => 0);
    await turn();
    for (let n = 0; n < 1_000; n += 1) await turn(newLane());
    asked.length = 0;
    await turn();
    expect(asked[0]).toBe(EVENTS_PER_TURN);
  });
});
