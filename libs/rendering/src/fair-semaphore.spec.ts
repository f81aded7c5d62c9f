import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { within } from '@posthorn/kernel';
import { FairSemaphore } from './fair-semaphore.ts';

describe('FairSemaphore', () => {
  it('admits a limited number at once, and the others of an owner in order of arrival', async () => {
    const semaphore = new FairSemaphore(1);
    const order: string[] = [];
    const first = await semaphore.take('a');
    const second = semaphore.take('a').then((release) => (order.push('second'), release));
    const third = semaphore.take('a').then((release) => (order.push('third'), release));
    expect(order).toEqual([]);
    first();
    (await second)();
    (await third)();
    expect(order).toEqual(['second', 'third']);
    expect(await within(semaphore.take('a'), 1_000)).toBeDefined();
  });

  it('admits one of each owner in turn, however many of one owner wait', async () => {
    const semaphore = new FairSemaphore(1);
    const order: string[] = [];
    const wait = async (owner: string, name: string): Promise<void> => {
      const release = await semaphore.take(owner);
      order.push(name);
      release();
    };
    const release = await semaphore.take('a');
    const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => wait(name[0]!, name));
    expect([semaphore.waitingCount, semaphore.waitingCountOf('a'), semaphore.waitingCountOf('d')]).toEqual([
      6, 3, 0,
    ]);
    release();
    await Promise.all(all);
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(semaphore.waitingCount).toBe(0);
  });

  it('gives the last free one of several only to an owner that has none', async () => {
    const semaphore = new FairSemaphore(3);
    const admitted: string[] = [];
    const take = (owner: string): Promise<() => void> =>
      semaphore.take(owner).then((release) => (admitted.push(owner), release));
    const [a1, a2] = [await take('a'), await take('a')];
    const a3 = take('a');
    await nextTurn();
    expect(admitted).toEqual(['a', 'a']);
    const b1 = await take('b');
    const c1 = take('c');
    b1();
    await c1;
    expect(admitted).toEqual(['a', 'a', 'b', 'c']);
    a1();
    await nextTurn();
    expect(admitted).toEqual(['a', 'a', 'b', 'c']);
    a2();
    await a3;
    expect(admitted).toEqual(['a', 'a', 'b', 'c', 'a']);
  });

  it('admits at once all that a single release allows', async () => {
    const semaphore = new FairSemaphore(3);
    const a1 = await semaphore.take('a');
    await semaphore.take('b');
    const waiting = [semaphore.take('b'), semaphore.take('a')];
    await nextTurn();
    expect(semaphore.waitingCount).toBe(2);
    a1();
    await Promise.all(waiting);
    expect(semaphore.waitingCount).toBe(0);
  });
});
