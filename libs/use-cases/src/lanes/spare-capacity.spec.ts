import { afterEach, describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LaneId } from '@posthorn/domain';
import type { ClaimedRow, ClaimCapacity } from '@posthorn/database';
import { Workbench } from '@posthorn/queues';
import { claimedRows } from './claimed-rows.fixture.ts';
import { SpareCapacity } from './spare-capacity.ts';

const LANE = 'wh_a' as LaneId;
const MAX_ROWS = 20;

describe('SpareCapacity', () => {
  const undo: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const action of undo.splice(0)) await action();
  });

  function make(mayClaim = true) {
    const finish: (() => void)[] = [];
    const given: ClaimedRow[] = [];
    const bench = new Workbench<ClaimedRow, string>({
      maxUnrecorded: 100,
      concurrency: MAX_ROWS,
      maxRows: MAX_ROWS,
      maxBytes: 1_000,
      leaseMs: 60_000,
      renewalMs: 20_000,
      marginMs: 30_000,
      work: () => new Promise((resolve) => finish.push(() => resolve('done'))),
      record: () => Promise.resolve(),
      renew: (rows) => Promise.resolve(rows),
      giveBack: (rows) => {
        given.push(...rows);
        return Promise.resolve();
      },
      onError: () => undefined,
    });
    const spare = new SpareCapacity({ bench, mayClaim: () => mayClaim, maxRows: MAX_ROWS });
    const fill = async (
      wanted: number,
      claim = (capacity: ClaimCapacity) => claimedRows(LANE, 'dlv', capacity.rows),
    ): Promise<ClaimCapacity> => {
      const { capacity } = await spare.fill(wanted, async (capacity) => {
        await nextTurn();
        return { capacity, claimed: claim(capacity) };
      });
      return capacity;
    };
    undo.push(async () => {
      bench.stopIntake();
      finish.splice(0).forEach((one) => one());
      await bench.drain();
    });
    return { bench, spare, fill, given, finishOne: () => finish.pop()?.() };
  }

  it('reports the free capacity, and processes what is claimed for it', async () => {
    const { fill } = make();
    expect(await fill(8)).toEqual({ rows: 8, bytes: 1_000, excludedLanes: [] });
    expect(await fill(50)).toEqual({ rows: 12, bytes: 920, excludedLanes: [LANE] });
    expect(await fill(50)).toMatchObject({ rows: 0 });
  });

  it('releases its capacity when the claim has failed', async () => {
    const { bench, fill } = make();
    const failing = () => {
      throw new Error('away');
    };
    await expect(fill(8, failing)).rejects.toThrow('away');
    expect(bench.capacity.rowsFree).toBe(MAX_ROWS);
  });

  it('is zero while nothing may be claimed', async () => {
    const { fill } = make(false);
    expect(await fill(8)).toMatchObject({ rows: 0 });
  });

  it('gives back what was claimed while the workbench was being drained', async () => {
    const { bench, spare, fill, given } = make();
    const late = fill(3, (capacity) => {
      bench.stopIntake();
      return claimedRows(LANE, 'dlv', capacity.rows);
    });
    await spare.settled();
    await bench.drain();
    await late;
    expect(given).toHaveLength(3);
  });

  it('is settled once no claim is under way', async () => {
    const { spare } = make();
    const { promise, resolve } = Promise.withResolvers<{ claimed: ClaimedRow[] }>();
    const claiming = spare.fill(3, () => promise);
    let isSettled = false;
    const settled = spare.settled().then(() => (isSettled = true));
    await nextTurn();
    expect(isSettled).toBe(false);
    resolve({ claimed: [] });
    await Promise.all([claiming, settled]);
    // What has ended is forgotten, so that memory does not grow.
    expect(spare['filling'].size).toBe(0);
  });

  it('waits for half of the workbench at most', async () => {
    const { spare, fill, finishOne } = make();
    await fill(MAX_ROWS);
    let isOver = false;
    const waiting = spare.waitForCapacityFor(1_000, 60_000).then(() => (isOver = true));
    for (let free = 1; free <= MAX_ROWS / 2; free += 1) {
      expect(isOver).toBe(false);
      finishOne();
      await nextTurn();
    }
    await waiting;
  });

  it('waits for enough capacity, but only for a limited time and with a limited number of callers', async () => {
    const { spare, fill, finishOne } = make();
    await fill(MAX_ROWS);
    let isOver = false;
    const waiting = spare.waitForCapacityFor(3, 60_000).then(() => (isOver = true));
    for (const expected of [false, false, true]) {
      finishOne();
      await nextTurn();
      expect(isOver).toBe(expected);
    }
    await waiting;
    await fill(3);
    for (const _round of [1, 2]) {
      let waiters = 4;
      const four = [1, 2, 3, 4].map(() => spare.waitForCapacityFor(3, 100).then(() => (waiters -= 1)));
      // A fifth would wait longer than this test may take.
      await spare.waitForCapacityFor(3, 3_600_000);
      expect(waiters).toBe(4);
      await Promise.all(four);
    }
  });
});
