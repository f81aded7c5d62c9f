import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { eventLane, type LaneDemand, type LaneId } from '@posthorn/domain';
import type { FannedOut, ClaimCapacity } from '@posthorn/database';
import { FanOutEvents } from './fan-out-events.ts';

const EVENTS_PER_TURN = 40;
const WEBHOOKS = 5;
const newLane = (): LaneId => eventLane(newId('wrk', Date.now()));
const LANE = newLane();

interface Backlog {
  readonly turn: (laneId?: LaneId) => Promise<void>;
  readonly asked: number[];
  /** How many deliveries the groups could have claimed at most. */
  readonly wanted: number[];
  readonly rung: string[];
  /** How many deliveries the turns waited for capacity for. */
  readonly waitedFor: number[];
  readonly rungWebhooks: LaneId[];
}

/**
 * Lanes with more events than any turn takes, except those in `empty`, which have none; what their turns requested, and how often they were rung
 * again. Each group leaves deliveries of the lanes in `ready` unclaimed.
 */
function backlog(
  rowsFree: () => number,
  { empty = [], ready = [] }: { empty?: readonly LaneId[]; ready?: FannedOut['ready'] } = {},
): Backlog {
  const asked: number[] = [];
  const wanted: number[] = [];
  const rung: string[] = [];
  const waitedFor: number[] = [];
  const rungWebhooks: LaneId[] = [];
  const fanOut = (demands: readonly LaneDemand[]): Promise<FannedOut> => {
    asked.push(...demands.map(({ maxRows }) => maxRows));
    const lanes = demands.map(({ laneId, maxRows }) =>
      empty.includes(laneId)
        ? { laneId, events: 0, hasMore: false }
        : { laneId, events: maxRows, hasMore: true },
    );
    const made = lanes.reduce((sum, { events }) => sum + events * WEBHOOKS, 0);
    return Promise.resolve({ lanes, ready, claimed: [], made });
  };
  const fill = <Result>(
    most: number,
    claim: (capacity: ClaimCapacity) => Promise<Result>,
  ): Promise<Result> => {
    wanted.push(most);
    return claim({ rows: Math.min(most, rowsFree()), bytes: 1, excludedLanes: [] });
  };
  const events = new FanOutEvents({
    deliveries: { fanOut },
    spareCapacity: { fill, waitForCapacityFor: (rows) => Promise.resolve(void waitedFor.push(rows)) },
    rings: {
      event: { ringSlot: (_lane, slot) => void rung.push(slot) },
      webhook: { ring: (laneId) => void rungWebhooks.push(laneId) },
    },
    eventsPerTurn: EVENTS_PER_TURN,
    handoverMs: 10,
    leaseMs: 1_000,
  });
  return { turn: (laneId = LANE) => events.serve(laneId, '0'), asked, wanted, rung, waitedFor, rungWebhooks };
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

  it('waits for capacity for the deliveries of each further group of a backlog', async () => {
    const { turn, waitedFor } = backlog(() => 1_000_000);
    await turn();
    expect(waitedFor).toEqual(Array(3).fill(EVENTS_PER_TURN * WEBHOOKS));
    await turn();
    expect(waitedFor).toHaveLength(7);
  });

  it('ends where the lane has no more, also beside a lane with a backlog, with which it shares the capacity', async () => {
    const idle = newLane();
    const { turn, asked, wanted, rung } = backlog(() => 23 * WEBHOOKS, { empty: [idle] });
    await turn(idle);
    expect(asked).toEqual([EVENTS_PER_TURN]);
    await Promise.all([turn(), turn(idle)]);
    expect(asked).toEqual([EVENTS_PER_TURN, EVENTS_PER_TURN, EVENTS_PER_TURN, 23, 23, 23]);
    expect(wanted.slice(0, 3)).toEqual([EVENTS_PER_TURN, 2 * EVENTS_PER_TURN, EVENTS_PER_TURN * WEBHOOKS]);
    expect(rung).toEqual(['0']);
    asked.length = 0;
    await Promise.all([turn(), turn(newLane())]);
    expect(asked.slice(0, 2)).toEqual([EVENTS_PER_TURN, 11]);
  });

  it('rings the lanes of deliveries that were not claimed, except those of slow receivers', async () => {
    const [fast, slow] = [newLane(), newLane()];
    const ready = [fast, slow].map((laneId) => ({ laneId, deliveries: 1, isSlow: laneId === slow }));
    const { turn, rungWebhooks } = backlog(() => 0, { ready, empty: [LANE] });
    await turn();
    expect(rungWebhooks).toEqual([fast]);
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
