import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { suspensionProofNowMs } from '@posthorn/kernel';
import { setTimeout as sleep } from 'node:timers/promises';
import { Benches, lane, rowsOf } from './workbench.fixture.ts';

const benches = new Benches();
afterEach(async () => {
  jest.restoreAllMocks();
  await benches.drain();
});

describe('Workbench: leases and draining', () => {
  it('begins no row whose lease is shorter than the margin, until it is renewed', async () => {
    const renewals: string[][] = [];
    const { bench, begun } = benches.make({
      renew: (rows) => {
        renewals.push(rows.map((row) => row.name));
        return Promise.resolve(rows);
      },
    });
    await bench.put(rowsOf('a', 1), suspensionProofNowMs() - 31_000);
    expect(renewals).toEqual([['a0']]);
    expect(begun).toEqual(['a0']);
  });

  it('begins no row that was claimed before this machine slept, until its lease is renewed', async () => {
    const renewals: string[][] = [];
    const { bench, begun } = benches.make({
      renew: (rows) => {
        renewals.push(rows.map((row) => row.name));
        return Promise.resolve(rows.filter((row) => row.name !== 'a0'));
      },
    });
    const claimedAt = suspensionProofNowMs();
    const awakeAt = Date.now() + 31_000;
    jest.spyOn(Date, 'now').mockReturnValue(awakeAt);
    await bench.put(rowsOf('a', 2), claimedAt);
    expect(renewals).toEqual([['a0', 'a1']]);
    expect(begun).toEqual(['a1']);
  });

  it('drops rows that another process has claimed meanwhile', async () => {
    const { bench, begun } = benches.make({
      renew: (rows) => Promise.resolve(rows.filter((row) => row.name !== 'a0')),
    });
    await bench.put(rowsOf('a', 2), suspensionProofNowMs() - 31_000);
    expect(begun).toEqual(['a1']);
  });

  it('goes on with other lanes when another process has claimed all queued rows of one', async () => {
    const { bench, begun } = benches.make({
      renew: (rows) => Promise.resolve(rows.filter((row) => row.laneId !== lane('a'))),
    });
    const claimedAt = suspensionProofNowMs() - 31_000;
    await Promise.all([bench.put(rowsOf('a', 1), claimedAt), bench.put(rowsOf('b', 1), claimedAt)]);
    expect(begun).toEqual(['b0']);
  });

  it('counts a renewed lease from when the renewal was sent: its answer may be late', async () => {
    let renewals = 0;
    const { bench, begun } = benches.make({
      renew: (rows) => {
        renewals += 1;
        const late = performance.now() + 31_000;
        if (renewals === 1) jest.spyOn(performance, 'now').mockReturnValue(late);
        return Promise.resolve(rows);
      },
    });
    await bench.put(rowsOf('a', 1), suspensionProofNowMs() - 31_000);
    expect(renewals).toBe(2);
    expect(begun).toEqual(['a0']);
  });

  it('renews leases with one statement at a time, however many rows wait for that', async () => {
    const answered = Promise.withResolvers<void>();
    const renewals: string[][] = [];
    const { bench } = benches.make({
      renew: async (rows) => {
        renewals.push(rows.map((row) => row.name));
        await answered.promise;
        return rows;
      },
    });
    const done = ['a', 'b', 'c'].map((name) => bench.put(rowsOf(name, 1), suspensionProofNowMs() - 31_000));
    expect(renewals).toEqual([['a0']]);
    answered.resolve();
    await Promise.all(done);
  });

  it('renews nothing while it holds no rows', async () => {
    let renewals = 0;
    benches.make({ renewalMs: 1, renew: (rows) => Promise.resolve(((renewals += 1), rows)) });
    await sleep(20);
    expect(renewals).toBe(0);
  });

  it('begins nothing while leases cannot be confirmed, and goes on when they can', async () => {
    let failures = 3;
    const { bench, begun } = benches.make({
      renew: (rows) => ((failures -= 1) >= 0 ? Promise.reject(new Error('away')) : Promise.resolve(rows)),
      onError: () => undefined,
    });
    await bench.put(rowsOf('a', 1), suspensionProofNowMs() - 31_000);
    expect(failures).toBeLessThan(0);
    expect(begun).toEqual(['a0']);
  });

  it('renews the leases of rows in progress within a second once the database answers again, however long it did not', async () => {
    jest.useFakeTimers();
    const finished = Promise.withResolvers<string>();
    let isAway = true;
    const renewedAt: number[] = [];
    const { bench } = benches.make({
      work: () => finished.promise,
      renew: (rows) => {
        if (isAway) return Promise.reject(new Error('away'));
        renewedAt.push(performance.now());
        return Promise.resolve(rows);
      },
      onError: () => undefined,
    });
    const done = bench.put(rowsOf('a', 1), suspensionProofNowMs());
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
    const { bench, given } = benches.make({
      work: async (row) => {
        await sleep(20);
        finished.push(row.name);
        return 'done';
      },
    });
    void bench.put(rowsOf('a', 3), suspensionProofNowMs());
    await bench.drain();
    expect(finished).toEqual(['a0']);
    expect(given).toEqual(['a1', 'a2']);
    expect(bench.capacity.reserve(lane('a'), 50)).toBe(0);
  });

  it('waits, when it is drained, for a row in progress that another process has claimed meanwhile: its outcome is recorded as late', async () => {
    const [renewed, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
    const recorded: string[] = [];
    const { bench } = benches.make({
      renewalMs: 5,
      work: () => finished.promise,
      record: (row) => Promise.resolve(void recorded.push(row.name)),
      renew: () => {
        renewed.resolve();
        return Promise.resolve([]);
      },
    });
    void bench.put(rowsOf('a', 1), suspensionProofNowMs());
    await renewed.promise;
    void sleep(20).then(() => finished.resolve('done'));
    await bench.drain();
    expect(recorded).toEqual(['a0']);
  });

  it('gives back the rows of a claim that ends only after it was drained', async () => {
    const { bench, begun, given } = benches.make();
    await bench.drain();
    void bench.put(rowsOf('a', 2), suspensionProofNowMs());
    await sleep(5);
    expect({ begun, given }).toEqual({ begun: [], given: ['a0', 'a1'] });
  });

  it('is drained although rows cannot be given back: their leases end by themselves', async () => {
    const faults: unknown[] = [];
    const { bench } = benches.make({
      concurrency: 0,
      giveBack: () => Promise.reject(new Error('away')),
      onError: (error) => void faults.push(error),
    });
    const done = bench.put(rowsOf('a', 2), suspensionProofNowMs());
    await bench.drain();
    await done;
    expect(faults).toHaveLength(1);
  });

  it('gives back a row whose work was not begun', async () => {
    const { bench, given } = benches.make({ work: () => Promise.resolve(undefined) });
    await bench.put(rowsOf('a', 2), suspensionProofNowMs());
    expect(given).toEqual(['a0', 'a1']);
  });

  it('lets the lease of a row expire when its work throws', async () => {
    const faults: unknown[] = [];
    const { bench, given } = benches.make({
      work: (row) => (row.name === 'a0' ? Promise.reject(new Error('ours')) : Promise.resolve('done')),
      onError: (error) => void faults.push(error),
    });
    await bench.put(rowsOf('a', 2), suspensionProofNowMs());
    expect(faults).toHaveLength(1);
    expect(given).toEqual([]);
  });

  it('checks the lease again after a row was prepared', async () => {
    const answers: boolean[] = [];
    const { bench } = benches.make({
      work: (_row, mayStillBegin) => {
        answers.push(mayStillBegin());
        const later = performance.now() + 31_000;
        jest.spyOn(performance, 'now').mockReturnValue(later);
        answers.push(mayStillBegin());
        return Promise.resolve('done');
      },
    });
    await bench.put(rowsOf('a', 1), suspensionProofNowMs());
    expect(answers).toEqual([true, false]);
  });

  it('does not begin a row that another process has claimed while it was prepared', async () => {
    let renewals = 0;
    const renewedTwice = Promise.withResolvers<void>();
    const { bench, given } = benches.make({
      renewalMs: 5,
      work: async (_row, mayStillBegin) => {
        // By then the answer to the first renewal has been noted.
        await renewedTwice.promise;
        return mayStillBegin() ? 'done' : undefined;
      },
      renew: () => {
        if ((renewals += 1) === 2) renewedTwice.resolve();
        return Promise.resolve([]);
      },
    });
    await bench.put(rowsOf('a', 1), suspensionProofNowMs());
    expect(given).toEqual(['a0']);
  });

  it('does not begin rows that are still being prepared when it is drained', async () => {
    let prepared: () => void = () => undefined;
    const preparing = new Promise<void>((resolve) => (prepared = resolve));
    const { bench, given } = benches.make({
      work: async (_row, mayStillBegin) => {
        await preparing;
        return mayStillBegin() ? 'done' : undefined;
      },
    });
    void bench.put(rowsOf('a', 2), suspensionProofNowMs());
    const drained = bench.drain();
    prepared();
    await drained;
    expect(given.toSorted()).toEqual(['a0', 'a1']);
  });
});
