import { afterEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LaneId } from '@posthorn/domain';
import { Benches, lane, type Row, rowsOf } from './workbench.fixture.ts';
import type { Workbench } from './workbench.ts';

const benches = new Benches();
afterEach(() => benches.drain());

/** The free capacity, without reserving it. */
function freeCapacity(bench: Workbench<Row, string>, laneId: LaneId, wanted: number): number {
  const rows = bench.capacity.reserve(laneId, wanted);
  bench.capacity.release(rows);
  return rows;
}

describe('Workbench', () => {
  it('serves the lanes in turn, one row of each', async () => {
    const { bench, begun } = benches.make();
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
    const { bench } = benches.make({
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
    const { bench, begun } = benches.make({ record: () => recorded });
    const done = bench.put(rowsOf('a', 2), performance.now());
    while (begun.length < 2) await sleep(1);
    expect(freeCapacity(bench, lane('a'), 50)).toBe(18);
    release();
    await done;
    expect(freeCapacity(bench, lane('a'), 50)).toBe(20);
  });

  it('begins nothing while too many outcomes are not recorded', async () => {
    const recorders: (() => void)[] = [];
    const { bench, begun } = benches.make({
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

  it('leaves a limited number of outcomes of a lane unrecorded', async () => {
    const held = Promise.withResolvers<void>();
    const { bench, begun } = benches.make({ maxUnrecordedPerLane: 3, record: () => held.promise });
    const done = bench.put(rowsOf('a', 6), performance.now());
    while (begun.length < 3) await sleep(1);
    await sleep(5);
    expect(begun).toHaveLength(3);
    held.resolve();
    await done;
    expect(begun).toHaveLength(6);
  });

  it('goes on with other lanes while the outcomes of some cannot be recorded, however many these are', async () => {
    const held = Promise.withResolvers<void>();
    const isHeld = ({ laneId }: Row): boolean => laneId !== lane('z');
    const { bench, begun } = benches.make({
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

  it('begins only one row of a lane whose work hangs while the outcomes of others cannot be recorded', async () => {
    const held = Promise.withResolvers<void>();
    const { bench, begun, free } = benches.makeHanging('slow', {
      concurrency: 4,
      maxUnrecorded: 40,
      maxUnrecordedPerLane: 40,
      maxRows: 200,
      record: ({ laneId }) => (laneId === lane('a') ? held.promise : Promise.resolve()),
    });
    const done = [bench.put(rowsOf('a', 40), performance.now())];
    while (begun.length < 38) await sleep(1);
    done.push(bench.put(rowsOf('slow', 2), performance.now()));
    await bench.put(rowsOf('z', 1), performance.now());
    expect(begun.slice(38)).toEqual(['slow0', 'z0']);
    held.resolve();
    free();
    await Promise.all(done);
  });

  it('always has capacity for a few rows of a lane that has none on it, however full it is', async () => {
    const { bench } = benches.make({ work: () => sleep(50, 'done') });
    const done = bench.put(rowsOf('a', 20), performance.now());
    expect(freeCapacity(bench, lane('a'), 50)).toBe(0);
    expect(freeCapacity(bench, lane('b'), 50)).toBe(5);
    expect(freeCapacity(bench, lane('b'), 1)).toBe(1);
    await bench.drain();
    await done;
  });

  it('forgets who has waited for capacity', async () => {
    const { bench } = benches.make();
    await Promise.all([bench.waitForCapacity(1), bench.waitForCapacity(1)]);
    expect(bench['waitingForCapacity'].size).toBe(0);
  });

  it('reports the rows of each lane, and grants rows of any lanes only within the free capacity', async () => {
    const { bench } = benches.make({ concurrency: 0 });
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
    const { bench } = benches.make();
    expect(bench.capacity.reserve(lane('a'), 15)).toBe(15);
    expect(bench.capacity.reserve(lane('b'), 15)).toBe(5);
    bench.capacity.release(20);
    expect(bench.capacity.reserve(lane('b'), 50)).toBe(20);
  });

  it('grants capacity for rows that are known to exist, whatever turns may find', () => {
    const { bench } = benches.make();
    expect(bench.capacity.reserve(lane('a'), 50)).toBe(20);
    expect(bench.capacity.reserveForAny(12)).toBe(12);
    expect(bench.capacity.reserveForAny(12)).toBe(8);
    expect(bench.capacity.reserve(lane('b'), 50)).toBe(5);
  });

  it('counts bytes as well as rows', async () => {
    const { bench } = benches.make({ maxBytes: 15, work: () => sleep(20, 'done') });
    const done = bench.put(rowsOf('a', 2), performance.now());
    expect(freeCapacity(bench, lane('a'), 50)).toBe(0);
    expect(bench.capacity.bytesFree).toBe(0);
    await done;
    expect(bench.capacity.bytesFree).toBe(15);
  });

  it('works on a limited number of rows of a lane at once, and on those of other lanes meanwhile', async () => {
    const { bench, begun, free } = benches.makeHanging('dead', {
      concurrency: 4,
      maxPermitsPerLane: 2,
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
    const { bench, begun, free } = benches.makeHanging('dead', {
      concurrency: 40,
      maxRows: 400,
      maxPermitsPerLane: 10,
      maxTimesFree: 1,
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
    const { bench, begun, free } = benches.makeHanging('slow', {
      concurrency: 20,
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
    const { bench } = benches.make({
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
    const { bench } = benches.make({ concurrency: 0, maxRows: 6, maxRowsOf: () => 4, minRowsForNewLane: 0 });
    expect(freeCapacity(bench, lane('a'), 9)).toBe(4);
    void bench.put(rowsOf('a', 4), performance.now());
    expect(bench.capacity.hasEnough(lane('a'))).toBe(true);
    expect(bench.capacity.hasEnough(lane('b'))).toBe(false);
    expect([freeCapacity(bench, lane('a'), 9), freeCapacity(bench, lane('b'), 9)]).toEqual([0, 2]);
    void bench.put(rowsOf('b', 2), performance.now());
    expect(freeCapacity(bench, lane('c'), 9)).toBe(0);
  });
});
