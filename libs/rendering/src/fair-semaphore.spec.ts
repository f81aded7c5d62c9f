import { describe, expect, it } from '@jest/globals';
import { within } from '@posthorn/kernel';
import { FairSemaphore } from './fair-semaphore.ts';

describe('Slots', () => {
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
});
