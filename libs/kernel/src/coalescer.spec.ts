import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Coalescer, type CoalescerOptions } from './coalescer.ts';

describe('Coalescer', () => {
  function recording(change: Partial<CoalescerOptions<number, string>> = {}): {
    coalescer: Coalescer<number, string>;
    groups: number[][];
  } {
    const groups: number[][] = [];
    const coalescer = new Coalescer<number, string>({
      serve: async (items) => {
        groups.push(items);
        await sleep(5);
        return items.map((item) => `r${item}`);
      },
      maxItems: 100,
      bytesOf: (item) => item,
      partitionOf: (item) => item,
      ...change,
    });
    return { coalescer, groups };
  }

  it('serves what arrives in one tick together, and gives each item its own result', async () => {
    const { coalescer, groups } = recording();
    const results = await Promise.all([1, 2, 3].map((item) => coalescer.add(item)));
    expect(results).toEqual(['r1', 'r2', 'r3']);
    expect(groups).toEqual([[1, 2, 3]]);
    expect(coalescer.pending).toBe(0);
  });

  it('forms the next group of what arrives while one is being served', async () => {
    const { coalescer, groups } = recording();
    const first = coalescer.add(1);
    await nextTurn();
    const others = [2, 3].map((item) => coalescer.add(item));
    expect(coalescer.pending).toBe(3);
    await Promise.all([first, ...others]);
    expect(groups).toEqual([[1], [2, 3]]);
  });

  it('limits a group in items and in bytes, and serves a larger item alone', async () => {
    const { coalescer, groups } = recording({ maxItems: 3, maxBytes: 10 });
    await Promise.all([4, 4, 4, 50, 1, 1, 1, 1].map((item) => coalescer.add(item)));
    expect(groups).toEqual([[4, 4], [4], [50], [1, 1, 1], [1]]);
  });

  it('counts items by their weight', async () => {
    const groups: number[][] = [];
    const serve = (items: number[]) => {
      groups.push(items);
      return Promise.resolve(items);
    };
    const coalescer = new Coalescer({ serve, maxItems: 5, weightOf: (item: number) => item });
    await Promise.all([2, 3, 1, 9, 4, 1].map((item) => coalescer.add(item)));
    expect(groups).toEqual([[2, 3], [1], [9], [4, 1]]);
  });

  it('serves owners in turn: one waits for no more than an item of another', async () => {
    const ownerOf = (item: number): number => Math.floor(item / 10);
    const { coalescer, groups } = recording({ maxItems: 3, partitions: 1, ownerOf });
    await Promise.all([11, 12, 13, 14, 15, 21, 31, 22].map((item) => coalescer.add(item)));
    expect(groups).toEqual([
      [11, 21, 31],
      [12, 22, 13],
      [14, 15],
    ]);
  });

  it('serves an owner whose items did not fit into the last group before those that had one in it', async () => {
    const ownerOf = (item: number): string => (item > 10 ? 'large' : 'small');
    const { coalescer, groups } = recording({ maxBytes: 10, partitions: 1, ownerOf });
    await Promise.all([50, 51, 52, 1, 2].map((item) => coalescer.add(item)));
    expect(groups).toEqual([[50], [1], [51], [2], [52]]);
  });

  it('serves an owner who comes while a group is being served before those that have an item in it', async () => {
    const ownerOf = (item: number): string => (item > 10 ? 'large' : 'small');
    const { coalescer, groups } = recording({ maxBytes: 10, partitions: 1, ownerOf });
    const first = coalescer.add(50);
    await nextTurn();
    await Promise.all([first, ...[51, 52, 1].map((item) => coalescer.add(item))]);
    expect(groups).toEqual([[50], [1], [51], [52]]);
  });

  it('splits what is in flight into two groups above minSplitWeight', async () => {
    const { coalescer, groups } = recording({ minSplitWeight: 3 });
    await Promise.all([1, 2, 3].map((item) => coalescer.add(item)));
    await Promise.all([1, 2, 3, 4, 5, 6, 7, 8, 9].map((item) => coalescer.add(item)));
    expect(groups).toEqual([
      [1, 2, 3],
      [1, 2, 3, 4, 5],
      [6, 7, 8, 9],
    ]);
    expect(coalescer.pending).toBe(0);
  });

  it('serves as many groups concurrently as it has partitions, and the items of a partition in order', async () => {
    const { coalescer, groups } = recording({ partitions: 2 });
    await Promise.all([1, 2, 3, 4].map((item) => coalescer.add(item)));
    expect(groups).toEqual([
      [1, 3],
      [2, 4],
    ]);
  });

  it('fails the items of a group that fails, and no others', async () => {
    let calls = 0;
    const coalescer = new Coalescer<number, number>({
      serve: (items) => ((calls += 1) === 1 ? Promise.reject(new Error('down')) : Promise.resolve(items)),
      maxItems: 1,
    });
    const [first, second] = await Promise.allSettled([coalescer.add(1), coalescer.add(2)]);
    expect(first).toMatchObject({ status: 'rejected', reason: new Error('down') });
    expect(second).toEqual({ status: 'fulfilled', value: 2 });
  });
});
