import { describe, expect, it } from '@jest/globals';
import { newId, sleep, suspensionProofNowMs } from '@posthorn/kernel';
import { bulkLane, type LaneDemand } from '@posthorn/domain';
import { Capacity } from './capacity.ts';
import { Turns, type TurnsOptions } from './turn.ts';
import type { HeldRow } from './workbench-options.ts';

const lane = bulkLane(newId('wrk', 0));
const rowsOf = (count: number, laneHasMore: boolean): HeldRow[] =>
  Array.from({ length: count }, () => ({ laneId: lane, bytes: 1, laneHasMore }));

/** A workbench with enough capacity, whose rows are done at once. */
const IDLE_BENCH = {
  capacity: new Capacity({ maxRows: 100, maxBytes: 1_000 }),
  put: () => Promise.resolve(),
  waitForCapacity: () => Promise.resolve(),
};

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

  it('waits for capacity on a full workbench, and claims when there is some', async () => {
    const capacity = new Capacity({ maxRows: 1, maxBytes: 1_000, minRowsForNewLane: 0 });
    const held = { laneId: lane, bytes: 1 };
    capacity.take(held);
    const waitForCapacity = (): Promise<void> => Promise.resolve(capacity.leave(held));
    const bench = { ...IDLE_BENCH, capacity, waitForCapacity };
    const { turns, did, demanded } = turnsThatFind(rowsOf(1, false), { bench });
    await turns.serve(lane, '2');
    expect([did, demanded]).toEqual([[], [[{ laneId: lane, maxRows: 1 }]]]);
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

  it('claims nothing, and rings no slot, of a lane that holds as many rows as it may: the clock rings it again', async () => {
    const capacity = new Capacity({ maxRows: 100, maxBytes: 1_000, maxRowsOf: () => 1 });
    capacity.take({ laneId: lane, bytes: 1 });
    const { turns, did, demanded } = turnsThatFind(rowsOf(3, false), { bench: { ...IDLE_BENCH, capacity } });
    await turns.serve(lane, '2');
    expect([did, demanded]).toEqual([[], []]);
  });

  it('occupies its slot until its rows are done when rows are left', async () => {
    const done = Promise.withResolvers<void>();
    const bench = { ...IDLE_BENCH, put: () => done.promise };
    const { turns, did } = turnsThatFind(rowsOf(3, true), { handoverMs: 3_600_000, bench });
    let hasEnded = false;
    const served = turns.serve(lane, '2').then(() => (hasEnded = true));
    while (did.length === 0) await sleep(1);
    await sleep(20);
    expect(hasEnded).toBe(false);
    done.resolve();
    await served;
  });

  it('hands its slot over after a time, although its rows are not done', async () => {
    const bench = { ...IDLE_BENCH, put: () => new Promise<void>(() => undefined) };
    const { turns, did } = turnsThatFind(rowsOf(3, true), { bench });
    await turns.serve(lane, '2');
    expect(did).toEqual(['2']);
  });

  it('that cannot claim fails, and reserves nothing any more', async () => {
    const away = new Error('the database is away');
    const claim = (): Promise<never> => Promise.reject(away);
    const { turns, did } = turnsThatFind([], { bench: IDLE_BENCH, claim });
    await expect(turns.serve(lane, '2')).rejects.toBe(away);
    expect(did).toEqual([]);
    expect(IDLE_BENCH.capacity.reserve(lane, 100)).toBe(100);
  });

  it('shares the free bytes with the other lanes of its claim', async () => {
    const bytes: number[] = [];
    const claim = (_demands: unknown, bytesPerLane: number): Promise<HeldRow[]> => {
      bytes.push(bytesPerLane);
      return Promise.resolve([]);
    };
    const { turns } = turnsThatFind([], { claim });
    await Promise.all([turns.serve(lane, '1'), turns.serve(bulkLane(newId('wrk', 1)), '1')]);
    expect(bytes).toEqual([500]);
  });

  it('counts leases from when the claim was sent: its answer may be late', async () => {
    let [sentAt, countedFrom] = [0, Number.POSITIVE_INFINITY];
    const claim = async (): Promise<HeldRow[]> => {
      sentAt = suspensionProofNowMs();
      await sleep(20);
      return rowsOf(1, false);
    };
    const put = (_rows: unknown, claimedAt: number): Promise<void> => {
      countedFrom = claimedAt;
      return Promise.resolve();
    };
    await turnsThatFind([], { claim, bench: { ...IDLE_BENCH, put } }).turns.serve(lane, '2');
    expect(countedFrom).toBeLessThanOrEqual(sentAt);
  });
});
