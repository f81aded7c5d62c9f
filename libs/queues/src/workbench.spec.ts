import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LaneId } from '@posthorn/domain';
import { Workbench } from './workbench.ts';
import type { HeldRow, WorkbenchOptions } from './workbench-options.ts';

interface Row extends HeldRow {
  readonly name: string;
}

const lane = (name: string): LaneId => name as LaneId;

function rowsOf(laneName: string, count: number, claims = 1): Row[] {
  return Array.from({ length: count }, (_nothing, index) => ({
    id: `${laneName}-${index}`,
    name: `${laneName}${index}`,
    laneId: lane(laneName),
    claims,
    bytes: 10,
    laneHasMore: false,
  }));
}

/** The free capacity, without reserving it. */
function freeCapacity(bench: Workbench<Row, string>, laneId: LaneId, wanted: number): number {
  const rows = bench.capacity.reserve(laneId, wanted);
  bench.capacity.release(rows);
  return rows;
}

describe('Workbench', () => {
  const benches: Workbench<Row, string>[] = [];
  afterEach(async () => {
    jest.restoreAllMocks();
    await Promise.all(benches.splice(0).map((bench) => bench.drain()));
  });

  function makeBench(change: Partial<WorkbenchOptions<Row, string>> = {}): {
    bench: Workbench<Row, string>;
    begun: string[];
    given: string[];
  } {
    const begun: string[] = [];
    const given: string[] = [];
    const bench = new Workbench<Row, string>({
      concurrency: 1,
      maxUnrecorded: 100,
      maxRows: 20,
      maxBytes: 1_000,
      leaseMs: 60_000,
      renewalMs: 20_000,
      marginMs: 30_000,
      work: async (row) => {
        begun.push(row.name);
        await sleep(1);
        return 'done';
      },
      record: () => Promise.resolve(),
      renew: (rows) => Promise.resolve(rows),
      giveBack: (rows) => Promise.resolve(void given.push(...rows.map((row) => row.name))),
      onError: (error) => {
        throw error;
      },
      ...change,
    });
    benches.push(bench);
    return { bench, begun, given };
  }

  it('serves the lanes in turn, one row of each', async () => {
    const { bench, begun } = makeBench();
    const now = performance.now();
    await Promise.all([
      bench.put(rowsOf('a', 4), now),
      bench.put(rowsOf('b', 1), now),
      bench.put(rowsOf('c', 2), now),
    ]);
    expect(begun).toEqual(['a0', 'a1', 'b0', 'c0', 'a2', 'c1', 'a3']);
  });

  it('never works on more rows at once than its limit', async () => {
    let working = 0;
    let max = 0;
    const { bench } = makeBench({
      concurrency: 3,
      work: async () => {
        max = Math.max(max, (working += 1));
        await sleep(2);
        working -= 1;
        return 'done';
      },
    });
    await bench.put(rowsOf('a', 20), performance.now());
    expect(max).toBe(3);
  });

  it('frees a place before the outcome is recorded, but holds the row until it is', async () => {
    let release: () => void = () => undefined;
    const recorded = new Promise<void>((resolve) => (release = resolve));
    const { bench, begun } = makeBench({ record: () => recorded });
    const done = bench.put(rowsOf('a', 2), performance.now());
    while (begun.length < 2) await sleep(1);
    expect(freeCapacity(bench, lane('a'), 50)).toBe(18);
    release();
    await done;
    expect(freeCapacity(bench, lane('a'), 50)).toBe(20);
  });

  it('begins nothing while too many outcomes are not recorded', async () => {
    const recorders: (() => void)[] = [];
    const { bench, begun } = makeBench({
      concurrency: 2,
      maxUnrecorded: 3,
      record: () => new Promise<void>((resolve) => recorders.push(resolve)),
    });
    const done = bench.put(rowsOf('a', 6), performance.now());
    for (let recorded = 0; recorded < 6; recorded += 1) {
      while (recorders.length < Math.min(recorded + 3, 6)) await sleep(1);
      await sleep(5);
      expect(begun).toHaveLength(Math.min(recorded + 3, 6));
      recorders[recorded]!();
    }
    await done;
  });

  it('goes on with other lanes while the outcomes of some cannot be recorded, however many these are', async () => {
    const held = Promise.withResolvers<void>();
    const isHeld = ({ laneId }: Row): boolean => laneId !== lane('z');
    const { bench, begun } = makeBench({
      concurrency: 2,
      maxUnrecorded: 40,
      maxUnrecordedPerLane: 20,
      maxRows: 200,
      record: (row) => (isHeld(row) ? held.promise : Promise.resolve()),
    });
    const names = ['a', 'b', 'c', 'd', 'e'];
    const done = names.map((name) => bench.put(rowsOf(name, 20), performance.now()));
    while (begun.length < 38) await sleep(1);
    await bench.put(rowsOf('z', 9), performance.now());
    expect(begun.filter((name) => !name.startsWith('z'))).toHaveLength(38);
    held.resolve();
    await Promise.all(done);
    expect(begun).toHaveLength(names.length * 20 + 9);
  });

  it('begins no row whose lease is shorter than the margin, until it is renewed', async () => {
    const renewals: string[][] = [];
    const { bench, begun } = makeBench({
      renew: (rows) => {
        renewals.push(rows.map((row) => row.name));
        return Promise.resolve(rows);
      },
    });
    await bench.put(rowsOf('a', 1), performance.now() - 31_000);
    expect(renewals).toEqual([['a0']]);
    expect(begun).toEqual(['a0']);
  });

  it('drops rows that another process has claimed meanwhile', async () => {
    const { bench, begun } = makeBench({
      renew: (rows) => Promise.resolve(rows.filter((row) => row.name !== 'a0')),
    });
    await bench.put(rowsOf('a', 2), performance.now() - 31_000);
    expect(begun).toEqual(['a1']);
  });

  it('begins nothing while leases cannot be confirmed, and goes on when they can', async () => {
    let failures = 3;
    const { bench, begun } = makeBench({
      renew: (rows) => ((failures -= 1) >= 0 ? Promise.reject(new Error('away')) : Promise.resolve(rows)),
      onError: () => undefined,
    });
    await bench.put(rowsOf('a', 1), performance.now() - 31_000);
    expect(failures).toBeLessThan(0);
    expect(begun).toEqual(['a0']);
  });

  it('renews the leases of rows in progress within a second once the database answers again, however long it did not', async () => {
    jest.useFakeTimers();
    const finished = Promise.withResolvers<string>();
    let isAway = true;
    const renewedAt: number[] = [];
    const { bench } = makeBench({
      work: () => finished.promise,
      renew: (rows) => {
        if (isAway) return Promise.reject(new Error('away'));
        renewedAt.push(performance.now());
        return Promise.resolve(rows);
      },
      onError: () => undefined,
    });
    const done = bench.put(rowsOf('a', 1), performance.now());
    await jest.advanceTimersByTimeAsync(81_000);
    isAway = false;
    const backAt = performance.now();
    await jest.advanceTimersByTimeAsync(40_000);
    jest.useRealTimers();
    finished.resolve('done');
    await done;
    expect(renewedAt[0]! - backAt).toBeLessThanOrEqual(1_000);
    expect(renewedAt).toHaveLength(3);
  });

  it('gives back what was not begun when it is drained, and waits for what was', async () => {
    const finished: string[] = [];
    const { bench, given } = makeBench({
      work: async (row) => {
        await sleep(20);
        finished.push(row.name);
        return 'done';
      },
    });
    void bench.put(rowsOf('a', 3), performance.now());
    await bench.drain();
    expect(finished).toEqual(['a0']);
    expect(given).toEqual(['a1', 'a2']);
    expect(freeCapacity(bench, lane('a'), 50)).toBe(0);
  });

  it('gives back a row whose work was not begun', async () => {
    const { bench, given } = makeBench({ work: () => Promise.resolve(undefined) });
    await bench.put(rowsOf('a', 2), performance.now());
    expect(given).toEqual(['a0', 'a1']);
  });

  it('lets the lease of a row expire when its work throws', async () => {
    const faults: unknown[] = [];
    const { bench, given } = makeBench({
      work: (row) => (row.name === 'a0' ? Promise.reject(new Error('ours')) : Promise.resolve('done')),
      onError: (error) => void faults.push(error),
    });
    await bench.put(rowsOf('a', 2), performance.now());
    expect(faults).toHaveLength(1);
    expect(given).toEqual([]);
  });

  it('always has capacity for a few rows of a lane that has none on it, however full it is', async () => {
    const { bench } = makeBench({ work: () => sleep(50, 'done') });
    const done = bench.put(rowsOf('a', 20), performance.now());
    expect(freeCapacity(bench, lane('a'), 50)).toBe(0);
    expect(freeCapacity(bench, lane('b'), 50)).toBe(5);
    expect(freeCapacity(bench, lane('b'), 1)).toBe(1);
    await bench.drain();
    await done;
  });

  it('reports the rows of each lane, and grants rows of any lanes only within the free capacity', async () => {
    const { bench } = makeBench({ concurrency: 0 });
    void bench.put([...rowsOf('a', 12), ...rowsOf('b', 5)], performance.now());
    expect(bench.capacity.lanesWith(5)).toEqual([lane('a'), lane('b')]);
    expect(bench.capacity.lanesWith(6)).toEqual([lane('a')]);
    expect(bench.capacity.reserveForAny(2)).toBe(2);
    expect(bench.capacity.rowsFree).toBe(1);
    expect(bench.capacity.reserveForAny(5)).toBe(1);
    expect(bench.capacity.reserveForAny(5)).toBe(0);
    bench.capacity.releaseForAny(3);
    bench.stopIntake();
    expect(bench.capacity.reserveForAny(5)).toBe(0);
    await bench.drain();
  });

  it('does not grant capacity that is reserved for one claim to another', () => {
    const { bench } = makeBench();
    expect(bench.capacity.reserve(lane('a'), 15)).toBe(15);
    expect(bench.capacity.reserve(lane('b'), 15)).toBe(5);
    bench.capacity.release(20);
    expect(bench.capacity.reserve(lane('b'), 50)).toBe(20);
  });

  it('grants capacity for rows that are known to exist, whatever turns may find', () => {
    const { bench } = makeBench();
    expect(bench.capacity.reserve(lane('a'), 50)).toBe(20);
    expect(bench.capacity.reserveForAny(12)).toBe(12);
    expect(bench.capacity.reserveForAny(12)).toBe(8);
    expect(bench.capacity.reserve(lane('b'), 50)).toBe(5);
  });

  it('checks the lease again after a row was prepared', async () => {
    const answers: boolean[] = [];
    const { bench } = makeBench({
      work: (_row, mayStillBegin) => {
        answers.push(mayStillBegin());
        const later = performance.now() + 31_000;
        jest.spyOn(performance, 'now').mockReturnValue(later);
        answers.push(mayStillBegin());
        return Promise.resolve('done');
      },
    });
    await bench.put(rowsOf('a', 1), performance.now());
    expect(answers).toEqual([true, false]);
  });

  it('counts bytes as well as rows', async () => {
    const { bench } = makeBench({ maxBytes: 15, work: () => sleep(20, 'done') });
    const done = bench.put(rowsOf('a', 2), performance.now());
    expect(freeCapacity(bench, lane('a'), 50)).toBe(0);
    expect(bench.capacity.bytesFree).toBe(0);
    await done;
    expect(bench.capacity.bytesFree).toBe(15);
  });

  it('works on a limited number of rows of a lane at once, and on those of other lanes meanwhile', async () => {
    let free: () => void = () => undefined;
    const hangs = new Promise<void>((resolve) => (free = resolve));
    const begun: string[] = [];
    const { bench } = makeBench({
      concurrency: 4,
      maxPermitsPerLane: 2,
      work: async (row) => {
        begun.push(row.name);
        if (row.name.startsWith('dead')) await hangs;
        return 'done';
      },
    });
    const all = [
      bench.put(rowsOf('dead', 5), performance.now()),
      bench.put(rowsOf('well', 3), performance.now()),
    ];
    await all[1];
    expect(begun.filter((name) => name.startsWith('dead'))).toEqual(['dead0', 'dead1']);
    free();
    await all[0];
    expect(begun).toHaveLength(8);
  });

  it('keeps places free for other lanes, however many lanes hang at once', async () => {
    let free: () => void = () => undefined;
    const hangs = new Promise<void>((resolve) => (free = resolve));
    const begun: string[] = [];
    const { bench } = makeBench({
      concurrency: 40,
      maxRows: 400,
      maxPermitsPerLane: 10,
      maxTimesFree: 1,
      work: async (row) => {
        begun.push(row.name);
        if (row.name.startsWith('dead')) await hangs;
        return 'done';
      },
    });
    const placesOf = (name: string): number => begun.filter((one) => one.startsWith(name)).length;
    const dead = Array.from({ length: 5 }, (_, n) => bench.put(rowsOf(`dead${n}-`, 20), performance.now()));
    expect([0, 1, 2, 3, 4].map((n) => placesOf(`dead${n}-`))).toEqual([10, 10, 10, 5, 3]);
    await bench.put(rowsOf('well', 20), performance.now());
    expect(placesOf('well')).toBe(20);
    free();
    await Promise.all(dead);
  });

  it('keeps a tenth of the places free for others than the only busy lane', async () => {
    let free: () => void = () => undefined;
    const hangs = new Promise<void>((resolve) => (free = resolve));
    const begun: string[] = [];
    const { bench } = makeBench({
      concurrency: 20,
      work: async (row) => {
        begun.push(row.name);
        if (row.name.startsWith('slow')) await hangs;
        return 'done';
      },
    });
    await bench.put(rowsOf('lone', 1), performance.now());
    const slow = bench.put(rowsOf('slow', 30), performance.now());
    expect(begun.splice(0)).toHaveLength(19);
    await bench.put(rowsOf('lone', 2), performance.now());
    expect(begun).toEqual(['lone0', 'lone1']);
    free();
    await slow;
    expect(begun).toHaveLength(14);
  });

  it('gives the place of a row that only waits to others, and still waits for it', async () => {
    const leave: (() => void)[] = [];
    const end: (() => void)[] = [];
    const { bench } = makeBench({
      concurrency: 2,
      maxRows: 4,
      work: async (_row, _mayStillBegin, releasePermitEarly) => {
        leave.push(releasePermitEarly);
        await new Promise<void>((resolve) => end.push(resolve));
        return 'done';
      },
    });
    const done = bench.put(rowsOf('a', 6), performance.now());
    expect(leave).toHaveLength(2);
    // Half of the capacity in rows may do so, each once.
    for (const n of [0, 0, 1, 2, 3]) leave[n]?.();
    expect(leave).toHaveLength(4);
    end[0]?.();
    await sleep(5);
    leave[2]!();
    expect(leave).toHaveLength(5);
    for (let n = 1; n < 6; n += 1) {
      end[n]!();
      await sleep(5);
    }
    await done;
    // All places have been given back, each once.
    const later = bench.put(rowsOf('b', 4), performance.now());
    expect(leave).toHaveLength(8);
    for (let n = 6; n < 10; n += 1) {
      end[n]!();
      await sleep(5);
    }
    await later;
  });

  it('with strict limits, has no capacity for a lane at its limit, nor for a new lane when it is full', () => {
    const { bench } = makeBench({ concurrency: 0, maxRows: 6, maxRowsPerLane: 4, minRowsForNewLane: 0 });
    expect(freeCapacity(bench, lane('a'), 9)).toBe(4);
    void bench.put(rowsOf('a', 4), performance.now());
    expect(bench.capacity.hasEnough(lane('a'))).toBe(true);
    expect(bench.capacity.hasEnough(lane('b'))).toBe(false);
    expect([freeCapacity(bench, lane('a'), 9), freeCapacity(bench, lane('b'), 9)]).toEqual([0, 2]);
    void bench.put(rowsOf('b', 2), performance.now());
    expect(freeCapacity(bench, lane('c'), 9)).toBe(0);
  });

  it('does not begin rows that are still being prepared when it is drained', async () => {
    let prepared: () => void = () => undefined;
    const preparing = new Promise<void>((resolve) => (prepared = resolve));
    const { bench, given } = makeBench({
      work: async (_row, mayStillBegin) => {
        await preparing;
        return mayStillBegin() ? 'done' : undefined;
      },
    });
    void bench.put(rowsOf('a', 2), performance.now());
    const drained = bench.drain();
    prepared();
    await drained;
    expect(given.toSorted()).toEqual(['a0', 'a1']);
  });
});
