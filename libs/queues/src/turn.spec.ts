import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { bulkLane } from '@posthorn/domain';
import { Capacity } from './capacity.ts';
import { type LaneDemand, Turns, type TurnsOptions } from './turn.ts';
import type { HeldRow } from './workbench-options.ts';

const lane = bulkLane(newId('wrk', 0));
const rowsOf = (count: number, laneHasMore: boolean): HeldRow[] =>
  Array.from({ length: count }, (_, n) => ({
    id: String(n),
    claims: 1,
    laneId: lane,
    bytes: 1,
    laneHasMore,
  }));

/** Turns that find this many rows, whose work ends at once. */
function turnsThatFind(rows: HeldRow[], change: Partial<TurnsOptions<HeldRow>> = {}, maxRows = 100) {
  const did: string[] = [];
  const demanded: LaneDemand[][] = [];
  const put: HeldRow[][] = [];
  const turns = new Turns<HeldRow>({
    rowsPerTurn: 10,
    handoverMs: 5,
    claim: (demands) => {
      demanded.push([...demands]);
      return Promise.resolve(rows);
    },
    mayClaim: () => true,
    bench: {
      capacity: new Capacity({ maxRows, maxBytes: 1_000, minRowsForNewLane: 0 }),
      put: (taken) => Promise.resolve(void put.push([...taken])),
      waitForCapacity: () => Promise.resolve(),
    },
    rings: { ringAll: () => did.push('all'), ringSlot: (_lane, slot) => did.push(slot) },
    ...change,
  });
  return { turns, did, demanded, put };
}

describe('A turn of a lane', () => {
  it('rings no slot when it has emptied the lane', async () => {
    const { turns, did, put } = turnsThatFind(rowsOf(3, false));
    await turns.serve(lane, '2');
    expect([did, put.map(({ length }) => length)]).toEqual([[], [3]]);
  });

  it('rings its own slot again when rows are left, and all slots when the clock has rung', async () => {
    const { turns, did } = turnsThatFind(rowsOf(3, true));
    await turns.serve(lane, '2');
    await turns.serve(lane, 'c1');
    expect(did).toEqual(['2', 'all']);
  });

  it('claims nothing without capacity, and rings again', async () => {
    const { turns, did, demanded } = turnsThatFind(rowsOf(3, false), {}, 0);
    await turns.serve(lane, '2');
    expect([did, demanded]).toEqual([['2'], []]);
  });

  it('claims nothing, and rings no slot, while this process may not claim', async () => {
    const { turns, did, demanded } = turnsThatFind(rowsOf(3, true), { mayClaim: () => false });
    await turns.serve(lane, '2');
    expect([did, demanded]).toEqual([[], []]);
  });

  it('shares one claim with turns that start at the same time; it names the lane once and distributes its rows', async () => {
    const { turns, demanded, put } = turnsThatFind(rowsOf(15, false));
    await Promise.all([turns.serve(lane, '1'), turns.serve(lane, '2')]);
    expect(demanded).toEqual([[{ laneId: lane, maxRows: 20 }]]);
    expect(put.map(({ length }) => length)).toEqual([10, 5]);
  });
});
